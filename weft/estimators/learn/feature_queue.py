"""A queue of parsed batches: threads parse Examples while a model trains with the batches before."""

from __future__ import annotations

from collections.abc import Mapping

from weft.errors import CancelledError, OutOfRangeError
from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.data_flow.queue import FIFOQueue
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.summary import nodes as summary_ops
from weft.training.queue_runner import QueueRunner, add_queue_runner


def queue_parsed_features(
    parsed_features: Mapping[str, Nest], keys: Tensor | None = None, feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2, name: str | None = None,
) -> tuple[Tensor | None, dict[str, Nest]]:  # fmt: skip
    """Have threads make these features, batch by batch, and take a batch from the queue in which they wait.

    Args:
        parsed_features: tensors and SparseTensors by name.
        keys: what else belongs to a batch.
        feature_queue_capacity: how many batches wait at most.
        num_enqueue_threads: how many threads make them, where queue runners are started.
        name: the name scope.

    Returns:
        The keys of the batch, None where none are given, and its features by name.
    """
    by_name = {key: parsed_features[key] for key in sorted(parsed_features)}
    flat = [part for value in by_name.values() for part in _parts(value)] + ([] if keys is None else [keys])
    with input_scope(name, "queue_parsed_features", flat):
        queue = FIFOQueue(feature_queue_capacity, [each.dtype for each in flat])
        share = cast(queue.size(), dtypes.float32) * (1.0 / feature_queue_capacity)
        summary_ops.scalar(f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full", share)
        enqueue_ops = [queue.enqueue(flat) for _ in range(num_enqueue_threads)]
        ends = (OutOfRangeError, CancelledError)
        add_queue_runner(QueueRunner(queue, enqueue_ops, queue_closed_exception_types=ends))
        taken = queue.dequeue()
    tensors: list[Tensor] = taken if isinstance(taken, list) else [taken]
    for tensor, put in zip(tensors, flat, strict=True):
        tensor.set_shape(put.get_shape())
    rest = iter(tensors)
    features = {key: _restored(value, [next(rest) for _ in _parts(value)]) for key, value in by_name.items()}
    return next(rest, None), features


def _parts(value: Nest) -> list[Tensor]:
    return [value.indices, value.values, value.dense_shape] if isinstance(value, SparseTensor) else [value]


def _restored(like: Nest, parts: list[Tensor]) -> Nest:
    return SparseTensor(*parts) if isinstance(like, SparseTensor) else parts[0]

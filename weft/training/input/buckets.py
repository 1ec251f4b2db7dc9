"""tf.contrib.training.bucket: batches of examples that are alike, such as sequences of about one length."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft import errors
from weft.framework.building.aliases import Nest, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant
from weft.ops.array.selection import where_v2
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.data_flow.queue import FIFOQueue, PaddingFIFOQueue, QueueBase
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, less, less_equal, logical_and
from weft.ops.math.reduce_functions import reduce_min
from weft.ops.summary.nodes import scalar
from weft.training.input.collector import Inputs, checked_keep_input, common_shapes
from weft.training.input.sparse_batches import chosen, restore, store
from weft.training.queue_runner import QueueRunner, add_queue_runner

_CLOSED = (errors.OutOfRangeError, errors.CancelledError)


def bucket(
    tensors: Nest, which_bucket: TensorLike, batch_size: TensorLike, num_buckets: int, num_threads: int = 1,
    capacity: int = 32, bucket_capacities: Sequence[int] | None = None, shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False, allow_smaller_final_batch: bool = False, keep_input: TensorLike = True,
    shared_name: str | None = None, name: str | None = None,
) -> tuple[Tensor, Nest]:  # fmt: skip
    """Batches of examples of the same bucket, in the order in which buckets become full.

    Each bucket collects its examples in a queue, and full batches wait in another. QueueRunners do both; start them with
    `tf.train.start_queue_runners`.

    Args:
        tensors: the components of an example, a list or a dict; they may be SparseTensors.
        which_bucket: the example's bucket, an int32 scalar below `num_buckets`.
        batch_size: how many examples make a batch; or a list, with a number for each bucket.
        num_buckets: how many buckets there are.
        num_threads: how many threads collect.
        capacity: how many batches wait at most.
        bucket_capacities: how many examples wait in each bucket at most; `capacity` when None.
        shapes, dynamic_pad, allow_smaller_final_batch: as for `tf.train.batch`.
        keep_input: whether to take the example, a bool scalar.
        shared_name: the name by which sessions share the queues.
        name: the name scope.

    Returns:
        The number of the batch's bucket, and the batch in the structure of `tensors`.

    Raises:
        ValueError: there are no tensors, their shapes are not known well enough, or a list has not one item per bucket.
    """
    sizes = list(batch_size) if isinstance(batch_size, list | tuple) else [batch_size] * num_buckets
    if len(sizes) != num_buckets:
        raise ValueError(f"If batch_size is a list it must have num_buckets elements, {num_buckets}; it has {len(sizes)}")
    capacities = [capacity] * num_buckets if bucket_capacities is None else list(bucket_capacities)
    if len(capacities) != num_buckets:
        raise ValueError(f"The list bucket_capacities ({capacities}) must have exactly num_buckets ({num_buckets}) elements.")
    inputs = Inputs([tensors], "bucket")
    with input_scope(name, "bucket", inputs.flat):
        keep = checked_keep_input(keep_input, False)
        components, sparse = store(inputs.lists[0], False, keep)
        limits = [_known(convert_to_tensor(size, dtype=dtypes.int32, name="batch_size")) for size in sizes]
        which = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        types = [each.dtype.base_dtype for each in components]
        kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        item_shapes = common_shapes([components], shapes, False)
        queues: list[QueueBase] = [
            kind(room, types, item_shapes, shared_name=shared_name and f"{shared_name}_{i}", name=f"bucket_queue_{i}")
            for i, room in enumerate(capacities)
        ]
        is_fixed = not allow_smaller_final_batch and not isinstance(batch_size, list | tuple) and isinstance(limits[0], int)
        rows = TensorShape([limits[0] if is_fixed else None])
        # A FIFOQueue takes no shapes that are known in part, as those of smaller batches are.
        top = PaddingFIFOQueue(
            capacity, [dtypes.int32, *types],
            [TensorShape([]), *[rows.concatenate(TensorShape(each)) for each in item_shapes]],
            shared_name=shared_name, name="top_queue",
        )  # fmt: skip
        collect = chosen(keep, functools.partial(_collect, queues, which, components), no_op)
        _add_threads(queues, top, _moves(queues, top, limits, allow_smaller_final_batch), [collect] * num_threads)
        _summarize(queues, top, capacity)
        number, *parts = top.dequeue(name="dequeue_top")
        return number, inputs.as_before(restore(parts, sparse))


def _known(size: Tensor) -> int | Tensor:
    value = constant_value(size)
    return size if value is None else int(value)


def _collect(queues: Sequence[QueueBase], which: Tensor, components: list[Tensor]) -> Operation:
    """Put an example into the queue of its bucket."""
    puts: list[Callable[[], Operation]] = [functools.partial(queue.enqueue, components) for queue in queues]
    return group(*[cond(equal(which, i), put, no_op) for i, put in enumerate(puts)], name="group_enqueues")


def _moves(queues: Sequence[QueueBase], top: QueueBase, sizes: Sequence[int | Tensor], allow_smaller: bool) -> list[Operation]:
    """For each bucket the operation that moves a batch to the queue of full ones."""
    moves = []
    for i, (queue, size) in enumerate(zip(queues, sizes, strict=True)):
        number = constant(i)
        take = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        taken = take(size, name=f"read_bucket_{i}")
        parts = taken if isinstance(taken, list | tuple) else [taken]
        moves.append(top.enqueue([number, *parts], name=f"enqueue_from_bucket_{i}"))
    return moves


def _add_threads(queues: Sequence[QueueBase], top: QueueBase, moves: list[Operation], collecting: list[Operation]) -> None:
    """Have threads collect and move; the end of the input closes the buckets, and their end the queue of batches."""
    add_queue_runner(
        QueueRunner(
            queues[0], moves, top.close(), top.close(cancel_pending_enqueues=True), queue_closed_exception_types=_CLOSED
        )
    )
    close = group(*[each.close() for each in queues])
    cancel = group(*[each.close(cancel_pending_enqueues=True) for each in queues])
    add_queue_runner(QueueRunner(top, collecting, close, cancel, queue_closed_exception_types=_CLOSED))


def _summarize(queues: Sequence[QueueBase], top: QueueBase, capacity: int) -> None:
    for each in queues:
        # TensorFlow's summary of this name has the size of `top`.
        scalar(f"bucket/{each.name}/size", cast(each.size(), dtypes.float32))
    scalar(f"bucket/{top.name}/fraction_of_{capacity}_full", cast(top.size(), dtypes.float32) * (1.0 / capacity))


def bucket_by_sequence_length(
    input_length: TensorLike, tensors: Nest, batch_size: TensorLike, bucket_boundaries: Sequence[int],
    num_threads: int = 1, capacity: int = 32, bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[ShapeLike] | None = None, dynamic_pad: bool = False, allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True, shared_name: str | None = None, name: str | None = None,
) -> tuple[Tensor, Nest]:  # fmt: skip
    """Batches of sequences of about the same length; see `bucket`.

        lengths, [batch] = tf.contrib.training.bucket_by_sequence_length(
            tf.size(words), [words], batch_size=32, bucket_boundaries=[10, 20, 40], dynamic_pad=True
        )

    Args:
        input_length: the sequence's length, an int32 scalar.
        bucket_boundaries: n increasing lengths, at each of which a bucket ends and the next begins: n + 1 buckets.
        tensors, batch_size, num_threads, capacity, bucket_capacities, shapes, dynamic_pad, allow_smaller_final_batch,
            keep_input, shared_name, name: as for `bucket`.

    Returns:
        The lengths of the batch's sequences, and the batch as `tensors`; one tensor in a list, in a dict too.

    Raises:
        TypeError: the boundaries are no list of integers.
        ValueError: the boundaries are missing or do not increase, or as `bucket`.
    """
    _check_boundaries(bucket_boundaries)
    keys = sorted(tensors) if isinstance(tensors, dict) else None
    components = list(tensors) if keys is None else [tensors[key] for key in keys]
    with get_default_graph().name_scope(name or "bucket_by_sequence_length"):
        length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        _, (lengths, *parts) = bucket(
            [length, *components], _bucket_of(length, bucket_boundaries), batch_size, len(bucket_boundaries) + 1, num_threads,
            capacity, bucket_capacities, None if shapes is None else [TensorShape([]), *shapes], dynamic_pad,
            allow_smaller_final_batch, keep_input, shared_name,
        )  # fmt: skip
    if keys is None:
        return lengths, parts
    # One tensor stays in a list, also in a dict, and programs take it out of there.
    return lengths, dict(zip(keys, parts if len(parts) > 1 else [parts], strict=True))


def _bucket_of(length: Tensor, boundaries: Sequence[int]) -> Tensor:
    limits = np.iinfo(np.int32)
    is_inside = logical_and(less_equal([limits.min, *boundaries], length), less(length, [*boundaries, limits.max]))
    return cast(reduce_min(where_v2(is_inside)), dtypes.int32)


def _check_boundaries(boundaries: Any) -> None:
    if not isinstance(boundaries, list | tuple):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for start, end in itertools.pairwise(boundaries):
        if not isinstance(start, int) or not isinstance(end, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {start} and {end}")
        if start >= end:
            raise ValueError(f"Buckets must contain sequential increasing lengths, but saw: {start} before {end}")

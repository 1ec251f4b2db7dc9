"""tf.contrib.slim's prefetch_queue: tensors kept ready in a queue, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.data_flow.queue import FIFOQueue, PaddingFIFOQueue, QueueBase
from weft.ops.math.casting import cast
from weft.ops.summary.nodes import scalar
from weft.training.queue_runner import QueueRunner, add_queue_runner


def prefetch_queue(
    tensors: Nest, capacity: int = 8, num_threads: int = 1, dynamic_pad: bool = False, shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:  # fmt: skip
    """A queue of what `tensors` become, which threads of the session fill; `dequeue()` gives them as they were given here.

        images, labels = tf.train.batch([image, label], batch_size=32)
        batches = slim.prefetch_queue.prefetch_queue([images, labels])
        images, labels = batches.dequeue()

    Args:
        tensors: a list or dictionary of tensors.
        capacity: how many elements to keep ready.
        num_threads: how many threads fill the queue.
        dynamic_pad: let the tensors' shapes be known in part.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Raises:
        ValueError: a tensor has an unknown shape, and is not to be padded.
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    given: Sequence[Tensor] = list(tensors) if names is None else [tensors[key] for key in names]
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    with get_default_graph().name_scope(name or "prefetch_queue"):
        queue = kind(
            capacity, [each.dtype.base_dtype for each in given], [each.get_shape() for each in given], names=names,
            shared_name=shared_name,
        )  # fmt: skip
        enqueue = queue.enqueue(tensors if names is not None else list(given))
        add_queue_runner(QueueRunner(queue, [enqueue] * num_threads))
        fraction = cast(queue.size(), dtypes.float32) * (1.0 / capacity)
        scalar(f"fraction_of_{capacity}_full", fraction)
    return queue

"""Batching: queues that collect examples from one or several pipelines, in order or shuffled, and give them in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from weft.framework import dtypes
from weft.framework.aliases import ShapeLike, TensorLike
from weft.framework.node_errors import naming
from weft.framework.operation import Tensor
from weft.framework.sparse_tensor import SparseTensor, SparseTensorValue
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import TensorShape
from weft.ops.array.partitioning import dynamic_partition
from weft.ops.control_flow.ordering import no_op
from weft.ops.data_flow.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.summary import nodes as summary_ops
from weft.training.input.sparse_batches import chosen, restore, store
from weft.training.queue_runner import QueueRunner, add_queue_runner

Tensors = Any
"""A list or tuple of (sparse) tensors, or a dict of them."""

_SHAPES: Final = "Tell a shape by tensor.set_shape(...) or shapes=[...]; dynamic_pad=True allows sizes that differ."


def batch(
    tensors: Tensors,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples, in order; each run gives the next one, [batch_size, ...] of each component.

    A QueueRunner collects the examples; start it with `tf.train.start_queue_runners`. A component may be a SparseTensor.

    Args:
        tensors: the components of an example.
        batch_size: how many examples make a batch.
        num_threads: how many threads collect; with more than one the order is not fixed.
        capacity: how many examples wait at most.
        enqueue_many: whether `tensors` hold several examples, along their first dimensions.
        shapes: the shapes of an example's components, where they are not known.
        dynamic_pad: whether dimensions that differ are padded with zeros.
        allow_smaller_final_batch: whether what is left at the end makes a last batch; the batch dimension is unknown then.
        shared_name: the name by which sessions share the queue.
        name: the name scope.

    Returns:
        Tensors in the structure of `tensors`; the tensor itself for a list of one.

    Raises:
        ValueError: there are no tensors, or their shapes are not known well enough.

    >>> tf.train.batch([tf.zeros([3])], batch_size=4).shape
    TensorShape([Dimension(4), Dimension(3)])
    """
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


def maybe_batch(
    tensors: Tensors,
    keep_input: TensorLike,
    batch_size: TensorLike,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch` of the examples for which `keep_input` is true: a bool scalar, or with `enqueue_many` a vector."""
    inputs = Inputs([tensors], "batch")
    with input_scope(name, "batch", [*inputs.flat, keep_input]) as scope:
        queue = _plain_queue(dynamic_pad, capacity, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = _Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(0)] * num_threads)
        collector.summarize(capacity)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)


def batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch` of the examples of several pipelines, with a thread for each; they agree in structure and dtypes."""
    return maybe_batch_join(
        tensors_list,
        True,
        batch_size,
        capacity,
        enqueue_many,
        shapes,
        dynamic_pad,
        allow_smaller_final_batch,
        shared_name,
        name,
    )


def maybe_batch_join(
    tensors_list: Sequence[Tensors],
    keep_input: TensorLike,
    batch_size: TensorLike,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch_join` of the examples for which `keep_input` is true."""
    inputs = Inputs(tensors_list, "batch_join")
    with input_scope(name, "batch_join", [*inputs.flat, keep_input]) as scope:
        queue = _plain_queue(dynamic_pad, capacity, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = _Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(number) for number in range(len(inputs.lists))])
        collector.summarize(capacity)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)


def shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`batch` in random order.

    Args:
        min_after_dequeue: how many examples stay to choose from; more mix better and take longer to begin.
        seed: the seed of the order.
        tensors, batch_size, capacity, num_threads, enqueue_many, shapes, allow_smaller_final_batch, shared_name, name: as
            for `batch`.

    Raises:
        ValueError: `capacity` is not larger than `min_after_dequeue`, or as `batch`.

    >>> x = tf.random_uniform([3])
    >>> batch = tf.train.shuffle_batch([x], batch_size=2, capacity=8, min_after_dequeue=2)
    >>> batch.shape
    TensorShape([Dimension(2), Dimension(3)])
    """
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: Tensors,
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`shuffle_batch` of the examples for which `keep_input` is true."""
    inputs = Inputs([tensors], "shuffle_batch")
    with input_scope(name, "shuffle_batch", [*inputs.flat, keep_input]) as scope:
        queue = _shuffling_queue(capacity, min_after_dequeue, seed, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = _Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(0)] * num_threads)
        collector.summarize(capacity, min_after_dequeue)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)


def shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`shuffle_batch` of the examples of several pipelines, with a thread for each."""
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes, allow_smaller_final_batch,
        shared_name, name,
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Tensors],
    batch_size: TensorLike,
    capacity: int,
    min_after_dequeue: int,
    keep_input: TensorLike,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """`shuffle_batch_join` of the examples for which `keep_input` is true."""
    inputs = Inputs(tensors_list, "shuffle_batch_join")
    with input_scope(name, "shuffle_batch_join", [*inputs.flat, keep_input]) as scope:
        queue = _shuffling_queue(capacity, min_after_dequeue, seed, shared_name)
        with naming(_SHAPES, **{f"tensor {number}": each for number, each in enumerate(inputs.lists[0])}):
            collector = _Collector(inputs, keep_input, enqueue_many, shapes, queue)
        collector.add_threads([collector.enqueue(number) for number in range(len(inputs.lists))])
        collector.summarize(capacity, min_after_dequeue)
        return collector.dequeue(batch_size, allow_smaller_final_batch, scope)


_MakeQueue = Callable[[list[Any], Any], QueueBase]


def _plain_queue(dynamic_pad: bool, capacity: int, shared_name: str | None) -> _MakeQueue:
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return lambda types, shapes: kind(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)


def _shuffling_queue(capacity: int, min_after_dequeue: int, seed: int | None, shared_name: str | None) -> _MakeQueue:
    if capacity <= min_after_dequeue:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {min_after_dequeue}.")
    return lambda types, shapes: RandomShuffleQueue(
        capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed, dtypes=types, shapes=shapes, shared_name=shared_name
    )


class Inputs:
    """The examples of one or several pipelines as lists of tensors, and their common structure."""

    def __init__(self, structures: Sequence[Tensors], caller: str) -> None:
        structures = list(structures)
        if not structures:
            raise ValueError("Expected at least one set of tensors")
        first = structures[0]
        self.keys: list[str] | None = None
        if isinstance(first, Mapping):
            self.keys = sorted(first)
            if not all(isinstance(each, Mapping) and sorted(each) == self.keys for each in structures):
                raise ValueError("All dictionaries must have the same keys")
            structures = [[each[key] for key in self.keys] for each in structures]
        self.lists = [[_as_tensor(item) for item in each] for each in structures]
        if not self.lists[0]:
            raise ValueError(f"Expected at least one tensor in {caller}().")

    @property
    def flat(self) -> list[Any]:
        """All tensors, the parts of sparse ones for these."""
        return [each.values if isinstance(each, SparseTensor) else each for items in self.lists for each in items]

    def as_before(self, components: list[object]) -> Any:
        """Components in the structure in which the examples came."""
        if self.keys is not None:
            return dict(zip(self.keys, components, strict=True))
        return components[0] if len(components) == 1 else components


def _as_tensor(item: object) -> Any:
    if isinstance(item, SparseTensorValue):
        return SparseTensor.from_value(item)
    return item if isinstance(item, SparseTensor) else convert_to_tensor(item)


class _Collector:
    """The queue that collects examples, and the nodes at both of its ends."""

    def __init__(self, inputs: Inputs, keep_input: TensorLike, enqueue_many: bool, shapes: object, make: _MakeQueue) -> None:
        self._inputs = inputs
        self._keep = checked_keep_input(keep_input, enqueue_many)
        self._enqueue_many = enqueue_many
        _check_same_sparseness(inputs.lists)
        first, self._sparse = store(inputs.lists[0], enqueue_many, self._keep)
        others = [store(each, enqueue_many, self._keep, like=self._sparse)[0] for each in inputs.lists[1:]]
        self._lists = [first, *others]
        types = _common_types(self._lists)
        self.queue = make(types, common_shapes(self._lists, shapes, enqueue_many))

    def enqueue(self, number: int) -> Any:
        """The operation that collects from one of the pipelines."""
        tensors = self._lists[number]
        put = self.queue.enqueue_many if self._enqueue_many else self.queue.enqueue
        if self._keep.get_shape().ndims == 1:
            chosen_rows = cast(self._keep, dtypes.int32)
            return put([
                each if sparse is not None else dynamic_partition(each, chosen_rows, 2)[1]
                for each, sparse in zip(tensors, self._sparse, strict=True)
            ])  # fmt: skip
        return chosen(self._keep, lambda: put(tensors), no_op)

    def add_threads(self, enqueue_ops: list[object]) -> None:
        """Have threads run these."""
        add_queue_runner(QueueRunner(self.queue, enqueue_ops))

    def summarize(self, capacity: int, kept: int = 0) -> None:
        """Add a summary of how full the queue is."""
        room = capacity - kept
        if isinstance(self.queue, RandomShuffleQueue):
            name, count = f"fraction_over_{kept}_of_{room}_full", maximum(0, self.queue.size() - kept)
        else:
            name, count = f"fraction_of_{capacity}_full", self.queue.size()
        summary_ops.scalar(name, cast(count, dtypes.float32) * (1.0 / room))

    def dequeue(self, batch_size: TensorLike, allow_smaller: bool, name: str) -> Any:
        """A batch."""
        take = self.queue.dequeue_up_to if allow_smaller else self.queue.dequeue_many
        return self._inputs.as_before(restore(take(batch_size, name=name), self._sparse))


def checked_keep_input(keep_input: TensorLike, enqueue_many: bool) -> Tensor:
    """`keep_input` as a tensor: a scalar, or a vector where several examples come at once."""
    tensor = convert_to_tensor(keep_input)
    rank = tensor.get_shape().ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank == 1 and not enqueue_many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return tensor


def _check_same_sparseness(lists: Sequence[Sequence[object]]) -> None:
    kinds = [[isinstance(item, SparseTensor) for item in each] for each in lists]
    for each, found in zip(lists, kinds, strict=True):
        if found != kinds[0]:
            raise ValueError(f"Inconsistent SparseTensors list: {list(lists[0])} vs. {list(each)}")


def _common_types(lists: Sequence[Sequence[Tensor]]) -> list[Any]:
    types = [[item.dtype.base_dtype for item in each] for each in lists]
    for other in types[1:]:
        if other != types[0]:
            raise TypeError(
                f"Expected types to be consistent: {', '.join(t.name for t in types[0])} vs. "
                f"{', '.join(t.name for t in other)}."
            )
    return types[0]


def common_shapes(lists: Sequence[Sequence[Tensor]], shapes: object, enqueue_many: bool) -> Any:
    """The shapes of the examples' components: those given, or what the pipelines have in common."""
    if shapes is not None:
        return shapes
    skipped = 1 if enqueue_many else 0
    found: list[TensorShape] = []
    for column in zip(*lists, strict=True):
        merged = [item.get_shape().with_rank_at_least(skipped)[skipped:] for item in column]
        common = merged[0]
        for other in merged[1:]:
            common = _generalized(common, other)
        found.append(common)
    return found


def _generalized(a: TensorShape, b: TensorShape) -> TensorShape:
    """The common part of two shapes: a dimension in which they differ is unknown."""
    if a.ndims is None or b.ndims is None or a.ndims != b.ndims:
        return TensorShape(None)
    return TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list(), strict=True)])

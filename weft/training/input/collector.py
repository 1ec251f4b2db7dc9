"""Collecting examples in a queue, which pipelines fill by threads and batches are taken from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor, SparseTensorValue
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.partitioning import dynamic_partition
from weft.ops.control_flow.ordering import no_op
from weft.ops.data_flow.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.summary import nodes as summary_ops
from weft.training.input.sparse_batches import chosen, restore, store
from weft.training.queue_runner import QueueRunner, add_queue_runner

Tensors = Any
"""A list or tuple of (sparse) tensors, or a dict of them."""


_MakeQueue = Callable[[list[Any], Any], QueueBase]


def plain_queue(dynamic_pad: bool, capacity: int, shared_name: str | None) -> _MakeQueue:
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    return lambda types, shapes: kind(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)


def shuffling_queue(capacity: int, min_after_dequeue: int, seed: int | None, shared_name: str | None) -> _MakeQueue:
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
        self.lists = [_items(each, caller) for each in structures]
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


def _items(structure: Iterable[object], caller: str) -> list[Any]:
    """The tensors of one example; a tensor in the place of their list is refused as in a loop over it."""
    try:
        return [_as_tensor(item) for item in structure]
    except TypeError as error:
        if not isinstance(structure, Tensor | SparseTensor):
            raise
        form = "[[a, b], [c, d]], a list for each pipeline" if caller.endswith("_join") else "[a, b]"
        name = structure.values.op.name if isinstance(structure, SparseTensor) else structure.op.name
        taken = f"{caller} takes the components of an example as a list, {form}; it was given {name!r} where one is wanted."
        raise type(error)(f"{error}\n  {taken}") from None


def _as_tensor(item: object) -> Any:
    if isinstance(item, SparseTensorValue):
        return SparseTensor.from_value(item)
    return item if isinstance(item, SparseTensor) else convert_to_tensor(item)


class Collector:
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
        for item in column:
            if item.dims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {item}.")
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

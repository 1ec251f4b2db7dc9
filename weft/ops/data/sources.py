"""Datasets of what is in memory: one element, the rows of arrays, a range of numbers, random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from weft.errors import InvalidArgumentError, UnimplementedError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import Element, ElementIterator, Iteration, Rows, Source, State, dataset_op
from weft.ops.data.random_numbers import RandomNumbers, settled_seeds


class NumberedIterator(ElementIterator):
    """Elements made by their number: `element(0)` to `element(count - 1)`."""

    def __init__(self, count: int | None, element: Callable[[int], Element]) -> None:
        self._count = count
        self._element = element
        self._next = 0

    @property
    def only_computes(self) -> bool:
        """All is in memory."""
        return True

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        number = self._next
        if number == self._count:
            return None
        self._next = number + 1
        return self._element(number)

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next elements."""
        first = self._next
        self._next = first + most if self._count is None else min(first + most, self._count)
        return list(map(self._element, range(first, self._next)))

    def state(self) -> State:
        """How many elements were taken."""
        return self._next

    def restore(self, state: State, caller: Caller) -> None:
        """Go behind as many elements."""
        self._next = state


class Numbered(Source):
    """A dataset whose elements are made by their numbers."""

    def __init__(self, count: int | None, element: Callable[[int], Element]) -> None:
        self._count = count
        self._element = element

    @property
    def size(self) -> int | None:
        """How many elements there are."""
        return -1 if self._count is None else self._count

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return NumberedIterator(self._count, self._element)


class SliceIterator(NumberedIterator):
    """Rows that lie in memory."""

    def told(self) -> Sequence[Element]:
        """The next element."""
        return [] if self._next == self._count else [self._element(self._next)]


class Slices(Numbered):
    """The rows of arrays of equal length."""

    def __init__(self, components: Sequence[Array]) -> None:
        super().__init__(len(components[0]), self._row)
        self._components = components

    def _row(self, number: int) -> Element:
        return tuple([component[number, ...] for component in self._components])

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return SliceIterator(self._count, self._row)

    @property
    def rows(self) -> Rows:
        """The arrays and the numbers of their rows."""
        return Rows(self._components, Numbered(self._count, int))  # type: ignore[arg-type]


def _kept(components: Sequence[Array]) -> list[Array]:
    """The arrays as a dataset may keep them: a step's own arrays are its feeds' memory at most, which are copied."""
    return [
        np.array(each) if isinstance(each, np.ndarray) and each.flags.writeable else np.asarray(each) for each in components
    ]


@dataset_op("TensorDataset", "components: [Toutput_types]", stateful=True, at_once=True)
def tensor_dataset(
    ctx: OpContext, components: Sequence[Array], *, Toutput_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """One element: `n*[*component] -> scalar variant`."""
    element = tuple(_kept(components))
    return Numbered(1, lambda _: element)


@dataset_op("TensorSliceDataset", "components: [Toutput_types]", stateful=True, at_once=True)
def tensor_slice_dataset(
    ctx: OpContext, components: Sequence[Array], *, Toutput_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """The rows of tensors: `n*[rows, *component] -> scalar variant`."""
    for number, component in enumerate(components):
        if component.ndim == 0:
            raise InvalidArgumentError.of("All components must be at least 1-dimensional")
        if len(component) != len(components[0]):
            raise InvalidArgumentError.of(
                f"All components must have the same size in the 0th dimension: component 0 has {len(components[0])}, "
                f"component {number} has {len(component)}"
            )
    return Slices(_kept(components))


@dataset_op("SparseTensorSliceDataset", "indices: int64, values: Tvalues, dense_shape: int64", stateful=True, at_once=True)
def sparse_tensor_slice_dataset(ctx: OpContext, indices: Array, values: Array, dense_shape: Array, *, Tvalues: DType) -> Source:
    """The rows of a sparse tensor, each as indices, values and shape.

    `[n, rank] int64, [n], [rank] int64 -> scalar variant`
    """
    if len(indices) != len(values):
        raise InvalidArgumentError.of(
            f"indices and values rows (indexing dimension) must match. (indices = {len(indices)}, values = {len(values)})"
        )
    if indices.shape[1] != len(dense_shape):
        raise InvalidArgumentError.of(
            f"Order length must be SparseTensor rank. indices is {list(indices.shape)}, and dense_shape has "
            f"{len(dense_shape)} sizes: {dense_shape.tolist()}"
        )
    rows = indices[:, 0]
    if np.any(np.diff(rows) < 0):
        raise UnimplementedError.of(
            "The SparseTensor must be ordered in the batch dimension; handling arbitrarily ordered input is not currently "
            "supported. tf.sparse.reorder(x) gives it in order."
        )
    shape = np.asarray(dense_shape[1:], np.int64)

    def row(number: int) -> Element:
        begin, end = np.searchsorted(rows, [number, number + 1])
        return indices[begin:end, 1:], values[begin:end], shape

    return Numbered(int(dense_shape[0]), row)


@dataset_op("RangeDataset", "start: int64, stop: int64, step: int64", stateful=True, at_once=True)
def range_dataset(
    ctx: OpContext, start: Array, stop: Array, step: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """Numbers from `start` up to `stop`: `scalar int64, scalar int64, scalar int64 -> scalar variant`."""
    first, stride = int(start), int(step)
    if stride == 0:
        raise InvalidArgumentError.of("step must be a non-zero integer.")
    return Numbered(len(range(first, int(stop), stride)), lambda number: (np.asarray(first + stride * number, np.int64),))


class RandomIterator(ElementIterator):
    """Random numbers."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._numbers = RandomNumbers(seed, seed2)

    @property
    def only_computes(self) -> bool:
        """All is in memory."""
        return True

    def next(self, caller: Caller) -> Element | None:
        """The next number."""
        return (np.asarray(self._numbers.next(), np.int64),)

    def state(self) -> State:
        """The stream and the place in it."""
        return [*self._numbers.seeds, self._numbers.taken]

    def restore(self, state: State, caller: Caller) -> None:
        """Go to that place."""
        self._numbers = RandomNumbers(*state)


class Random(Source):
    """Random numbers without end."""

    size = -1

    def __init__(self, seed: int, seed2: int) -> None:
        self._seeds = settled_seeds(seed, seed2)

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return RandomIterator(*self._seeds)


@dataset_op("RandomDataset", "seed: int64, seed2: int64", stateful=True, at_once=True)
def random_dataset(
    ctx: OpContext, seed: Array, seed2: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> Source:
    """Random numbers without end: `scalar int64, scalar int64 -> scalar variant`."""
    return Random(int(seed), int(seed2))

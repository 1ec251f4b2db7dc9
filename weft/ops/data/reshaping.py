"""Datasets of padded batches, sparse batches and windows, and of the rows of batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from weft.errors import CancelledError, DataLossError, InvalidArgumentError, OpError, from_status
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims, brackets
from weft.framework.types.dtypes import DType
from weft.ops.data.batching import BatchIterator, checked_size
from weft.ops.data.element import (
    Element,
    ElementIterator,
    Iteration,
    OverInput,
    Source,
    State,
    boxed,
    dataset_op,
    source_of,
)
from weft.ops.sparse.serialization import serial_sparse


class PaddedBatches(Source):
    """Batches whose elements are padded to one shape: a size of -1 is that of the largest in the batch."""

    def __init__(
        self, source: Source, size: int, shapes: Sequence[Array], values: Sequence[Array], drop_remainder: bool
    ) -> None:
        self._source = source
        self._size = size
        self._shapes = [shape.tolist() for shape in shapes]
        self._values = values
        self._drop_remainder = drop_remainder

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        over = self._source.iterate(iteration)
        return PaddedBatchIterator(over, self._size, self._shapes, self._values, self._drop_remainder)


class PaddedBatchIterator(BatchIterator):
    """Padded batches."""

    def __init__(
        self, over: ElementIterator, size: int, shapes: Sequence[Sequence[int]], values: Sequence[Array], drops: bool
    ) -> None:
        super().__init__(over, size, drops)
        self._shapes = shapes
        self._values = values

    def _batch(self, elements: list[Element]) -> Element:
        columns = enumerate(zip(self._shapes, self._values, strict=True))
        return tuple(_padded([element[i] for element in elements], shape, value, i) for i, (shape, value) in columns)


def _padded(parts: Sequence[Array], wanted: Sequence[int], value: Array, place: int) -> Array:
    for part in parts:
        if part.ndim != len(wanted):
            raise InvalidArgumentError.of(
                f"All elements in a batch must have the same rank as the padded shape for component{place}: expected rank "
                f"{len(wanted)} but got element with rank {part.ndim}"
            )
    largest = [max(part.shape[axis] for part in parts) for axis in range(len(wanted))]
    shape = [size if want < 0 else want for want, size in zip(wanted, largest, strict=True)]
    if any(size > want for size, want in zip(largest, shape, strict=True)):
        raise DataLossError.of(
            f"Attempted to pad to a smaller size than the input element. Component {place} is padded to {brackets(shape)}, an "
            f"element of the batch has size {brackets(largest)}."
        )
    result = np.empty((len(parts), *shape), parts[0].dtype)
    result[...] = value[()]
    for number, part in enumerate(parts):
        corner: tuple[int | slice, ...] = (number, *(slice(size) for size in part.shape))
        result[corner] = part if part.ndim else part[()]
    return result


@dataset_op("PaddedBatchDatasetV2", "input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
            "padding_values: [Toutput_types], drop_remainder: bool", limits={"N": 1})  # fmt: skip
def padded_batch_dataset_v2(
    ctx: OpContext, input_dataset: Array, batch_size: Array, padded_shapes: Sequence[Array], padding_values: Sequence[Array],
    drop_remainder: Array, *, parallel_copy: bool = False, Toutput_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Padded batches: `scalar variant, scalar int64, n*[rank] int64, n*scalar, scalar bool -> scalar variant`."""
    sizes = checked_size(batch_size), padded_shapes, padding_values, bool(drop_remainder)
    return PaddedBatches(source_of(input_dataset), *sizes)


@dataset_op("PaddedBatchDataset", "input_dataset: variant, batch_size: int64, padded_shapes: N*int64, "
            "padding_values: [Toutput_types]", limits={"N": 1})  # fmt: skip
def padded_batch_dataset(
    ctx: OpContext, input_dataset: Array, batch_size: Array, padded_shapes: Sequence[Array], padding_values: Sequence[Array], *,
    Toutput_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Padded batches: `scalar variant, scalar int64, n*[rank] int64, n*scalar -> scalar variant`."""
    return PaddedBatches(source_of(input_dataset), checked_size(batch_size), padded_shapes, padding_values, False)


class SparseBatchIterator(BatchIterator):
    """Batches of dense elements as sparse tensors, serial."""

    def __init__(self, over: ElementIterator, size: int, row_shape: Sequence[int]) -> None:
        super().__init__(over, size, drop_remainder=False)
        self._row_shape = row_shape

    def _batch(self, elements: list[Element]) -> Element:
        rows = [element[0] for element in elements]
        rank = len(self._row_shape)
        for row in rows:
            if row.ndim != rank:
                raise InvalidArgumentError.of(
                    f"Dense to sparse batch: element has shape {brackets(row.shape)}, rank {rank} expected"
                )
        largest = [max(row.shape[axis] for row in rows) for axis in range(rank)]
        shape = [size if want < 0 else want for want, size in zip(self._row_shape, largest, strict=True)]
        if any(size > want for size, want in zip(largest, shape, strict=True)):
            raise DataLossError.of(
                f"Input element had shape {brackets(largest)} that is larger than the row shape {brackets(shape)}"
            )
        places = [np.argwhere(np.ones(row.shape, bool)) for row in rows]
        indices = np.concatenate([np.insert(place, 0, number, 1) for number, place in enumerate(places)]).astype(np.int64)
        values = np.concatenate([row.ravel() for row in rows])
        return (serial_sparse(indices, values, np.asarray([len(rows), *shape], np.int64), is_variant=True),)


class SparseBatches(Source):
    """Batches of dense elements as sparse tensors."""

    def __init__(self, source: Source, size: int, row_shape: Sequence[int]) -> None:
        self._source = source
        self._size = size
        self._row_shape = row_shape

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return SparseBatchIterator(self._source.iterate(iteration), self._size, self._row_shape)


@dataset_op("DenseToSparseBatchDataset", "input_dataset: variant, batch_size: int64, row_shape: int64")
def dense_to_sparse_batch_dataset(
    ctx: OpContext, input_dataset: Array, batch_size: Array, row_shape: Array, *, output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Batches as sparse tensors: `scalar variant, scalar int64, [rank] int64 -> scalar variant`."""
    return SparseBatches(source_of(input_dataset), checked_size(batch_size), row_shape.tolist())


class Unbatched(Source):
    """The rows of elements."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return UnbatchIterator(self._source.iterate(iteration))


class UnbatchIterator(OverInput):
    """The rows of elements, one after the other."""

    def __init__(self, over: ElementIterator) -> None:
        super().__init__(over)
        self._batch: Element | None = None
        self._row = 0

    def next(self, caller: Caller) -> Element | None:
        """The next row."""
        while self._batch is None or self._row == len(self._batch[0]):
            self._batch, self._row = self._input.next(caller), 0
            if self._batch is None:
                return None
            sizes = {component.shape[:1] for component in self._batch}
            if len(sizes) > 1:
                raise InvalidArgumentError.of(f"Input element must have the same batch size in each component, got {sizes}")
        number = self._row
        self._row = number + 1
        return tuple(np.asarray(component[number], component.dtype) for component in self._batch)

    def state(self) -> State:
        """The batch, how many rows of it were taken, and where the input is."""
        return [self._batch, self._row, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._batch, self._row, inner = state
        self._input.restore(inner, caller)


@dataset_op("UnbatchDataset", "input_dataset: variant")
def unbatch_dataset(ctx: OpContext, input_dataset: Array, *, output_types: list[DType], output_shapes: list[Dims]) -> Source:
    """The rows of elements: `scalar variant -> scalar variant`."""
    return Unbatched(source_of(input_dataset))


class Listed(Source):
    """Elements that are there already, such as those of a window."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements

    @property
    def size(self) -> int:
        """How many they are."""
        return len(self.elements)

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return ListIterator(self.elements)


class ListIterator(ElementIterator):
    """Elements that are there already."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self._elements = elements
        self._next = 0

    @property
    def only_computes(self) -> bool:
        """All is in memory."""
        return True

    def next(self, caller: Caller) -> Element | None:
        """The next of them."""
        if self._next == len(self._elements):
            return None
        self._next += 1
        return self._elements[self._next - 1]

    def state(self) -> State:
        """How many were taken."""
        return self._next

    def restore(self, state: State, caller: Caller) -> None:
        """Go behind as many."""
        self._next = state


class Windows(Source):
    """Datasets of neighbouring elements; one dataset for each component."""

    def __init__(self, source: Source, size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        self._source = source
        self._settings = size, shift, stride, drop_remainder

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return WindowIterator(self._source.iterate(iteration), *self._settings)


class WindowIterator(OverInput):
    """Windows of `size` elements `stride` apart, each `shift` elements behind the one before.

    An error that the input raises is held in the place of the element, and raised with the windows that have this one.
    """

    def __init__(self, over: ElementIterator, size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        super().__init__(over)
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder
        self._held: deque[Element | OpError] = deque()
        self._skip = 0
        self._is_over = False

    def next(self, caller: Caller) -> Element | None:
        """The next window."""
        wanted = (self._size - 1) * self._stride + 1
        while not self._is_over and len(self._held) < wanted:
            element = self._following(caller)
            if element is None:
                self._is_over = True
            elif self._skip:
                self._skip -= 1
            else:
                self._held.append(element)
        if not self._held or (self._drop_remainder and len(self._held) < wanted):
            return None
        elements = list(self._held)[:: self._stride][: self._size]
        for _ in range(min(self._shift, len(self._held))):
            self._held.popleft()
        self._skip = max(0, self._shift - wanted)
        made = [each for each in elements if not isinstance(each, OpError)]
        for each in elements:
            if isinstance(each, OpError):
                raise each
        return tuple(boxed(Listed([(element[place],) for element in made])) for place in range(len(made[0])))

    def _following(self, caller: Caller) -> Element | OpError | None:
        try:
            return self._input.next(caller)
        except CancelledError:
            raise
        except OpError as error:
            return error

    def state(self) -> State:
        """The elements that further windows begin with, a list of code and text for an error, and where the input is."""
        held = [[each.error_code, each.message] if isinstance(each, OpError) else each for each in self._held]
        return [held, self._skip, self._is_over, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        held, self._skip, self._is_over, inner = state
        self._held = deque(from_status(*each) if isinstance(each, list) else each for each in held)
        self._input.restore(inner, caller)


@dataset_op("WindowDataset", "input_dataset: variant, size: int64, shift: int64, stride: int64, drop_remainder: bool")
def window_dataset(
    ctx: OpContext, input_dataset: Array, size: Array, shift: Array, stride: Array, drop_remainder: Array, *,
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Datasets of neighbouring elements.

    `scalar variant, scalar int64, scalar int64, scalar int64, scalar bool -> scalar variant`
    """
    for name, value in (("size", size), ("shift", shift), ("stride", stride)):
        if int(value) < 1:
            raise InvalidArgumentError.of(f"Window {name} must be greater than zero.")
    return Windows(source_of(input_dataset), int(size), int(shift), int(stride), bool(drop_remainder))

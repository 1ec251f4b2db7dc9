"""Datasets of batches, and of parts of batches: batch, padded_batch, unbatch, window, dense to sparse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import CancelledError, InvalidArgumentError, OpError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.dims import Dims, brackets
from weft.framework.types.dtypes import DType
from weft.ops.data.element import (
    Element,
    ElementIterator,
    Iteration,
    OverInput,
    Source,
    State,
    dataset_op,
    joined_progress,
    source_of,
)


def stacked(elements: Sequence[Element]) -> Element:
    """Elements as one batch; InvalidArgumentError where their shapes differ."""
    return tuple([_stack([element[place] for element in elements], place) for place in range(len(elements[0]))])


def _stack(parts: Sequence[Array], place: int) -> Array:
    first = parts[0]
    shape = first.shape
    is_text = first.dtype == object
    if is_text and not shape and not any(part.shape for part in parts):
        return np.fromiter([part.item() for part in parts], object, len(parts))
    for number, part in enumerate(parts):
        if part.shape != shape:
            raise InvalidArgumentError.of(
                f"Cannot batch tensors with different shapes in component {place}. First element had shape "
                f"{brackets(shape)} and element {number} had shape {brackets(part.shape)}. Dataset.padded_batch fills up the "
                "smaller ones."
            )
    if not shape:
        return np.array(parts, first.dtype)
    result = np.empty((len(parts), *shape), first.dtype)
    for number, part in enumerate(parts):
        result[number] = part
    return result


def checked_size(batch_size: Array) -> int:
    """The size of batches; InvalidArgumentError when there are none of that size."""
    size = int(batch_size)
    if size <= 0:
        raise InvalidArgumentError.of("Batch size must be greater than zero.")
    return size


class Batches(Source):
    """Batches of consecutive elements."""

    def __init__(self, source: Source, size: int, drop_remainder: bool) -> None:
        self._source = source
        self._size = size
        self._drop_remainder = drop_remainder

    @property
    def size(self) -> int | None:
        """How many batches there are."""
        count = self._source.size
        if count is None or count < 0:
            return count
        return count // self._size if self._drop_remainder else -(-count // self._size)

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        rows, texts = self._source.rows, self._source.texts
        if texts is not None:
            return TextsIterator(texts.iterate(iteration), self._size, self._drop_remainder)
        if rows is None:
            return BatchIterator(self._source.iterate(iteration), self._size, self._drop_remainder)
        return RowsIterator(rows.numbers.iterate(iteration), self._size, self._drop_remainder, rows.components)


class BatchIterator(OverInput):
    """Batches of elements."""

    def __init__(self, input_iterator: ElementIterator, size: int, drop_remainder: bool) -> None:
        super().__init__(input_iterator)
        self._size = size
        self._least = size if drop_remainder else 1
        self._is_over = False
        self._elements: list[Element] = []  # of the batch that is made

    @property
    def only_computes(self) -> bool:
        """Whether the input does."""
        return self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next batch."""
        if self._is_over:
            return None
        elements = self._elements = []
        take, size = self._input.next_some, self._size
        while len(elements) < size:
            some = take(caller, size - len(elements))
            if not some:
                self._is_over = True
                break
            elements += some
        # So that an element goes when nobody else has it.
        self._elements = []
        return self._batch(elements) if len(elements) >= self._least else None

    def _batch(self, elements: list[Element]) -> Element:
        return stacked(elements)

    def progress(self) -> str:
        """How many elements of the next batch there are."""
        return joined_progress(f"batch has {len(self._elements)} of {self._size} elements", super().progress())

    def state(self) -> State:
        """Whether it is over, and where the input is."""
        return [self._is_over, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._is_over, inner = state
        self._input.restore(inner, caller)


class WholeBatches(Batches):
    """Batches each of which an error of one of its elements takes as a whole, as those of functions' results."""

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return WholeBatchIterator(self._source.iterate(iteration), self._size, self._drop_remainder)


class WholeBatchIterator(BatchIterator):
    """Batches of which each is there or fails; the next one begins behind it in any case."""

    def next(self, caller: Caller) -> Element | None:
        """The next batch."""
        if self._is_over:
            return None
        elements = self._elements = []
        failures: list[OpError] = []
        while len(elements) + len(failures) < self._size:
            try:
                some = self._input.next_some(caller, self._size - len(elements) - len(failures))
            except CancelledError:
                raise
            except OpError as error:
                failures.append(error)
                continue
            if not some:
                self._is_over = True
                break
            elements += some
        self._elements = []
        if failures:
            raise failures[0]
        return self._batch(elements) if len(elements) >= self._least else None


class RowsIterator(BatchIterator):
    """Batches of rows of arrays, each taken at once by the rows' numbers, which are its input's elements."""

    def __init__(self, input_iterator: ElementIterator, size: int, drop_remainder: bool, components: Sequence[Array]) -> None:
        super().__init__(input_iterator, size, drop_remainder)
        self._components = components

    def _batch(self, elements: list[Element]) -> Element:
        return tuple([component.take(elements, axis=0) for component in self._components])


class TextsIterator(BatchIterator):
    """Batches of bare texts."""

    def _batch(self, elements: list[Element]) -> Element:
        return (np.fromiter(elements, object, len(elements)),)


@dataset_op("BatchDatasetV2", "input_dataset: variant, batch_size: int64, drop_remainder: bool")
def batch_dataset_v2(
    ctx: OpContext, input_dataset: Array, batch_size: Array, drop_remainder: Array, *, parallel_copy: bool = False,
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Batches of elements: `scalar variant, scalar int64, scalar bool -> scalar variant`."""
    return Batches(source_of(input_dataset), checked_size(batch_size), bool(drop_remainder))

"""Datasets that take elements of several others by turns."""

from __future__ import annotations

import os
from collections.abc import Sequence

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import Called, Element, ElementIterator, Iteration, Source, State, dataset_op, source_of
from weft.ops.data.mapping import Numbering
from weft.ops.data.parallel import calls_at_once
from weft.ops.data.prefetching import PrefetchIterator


class Interleaved(Source):
    """The elements of the datasets that a function makes, by turns of `block` elements of each of `cycle` datasets.

    Args:
        source: the function's arguments.
        function: the function.
        cycle: how many datasets are open at a time.
        block: how many elements come of one before the next.
        ahead: how many elements a thread for each of them takes beforehand; 0 for none.
        opens_all: whether all are open from the beginning; see `OpenInterleaveIterator`.
    """

    def __init__(
        self, source: Source, function: Called, cycle: int, block: int, ahead: int = 0, opens_all: bool = False
    ) -> None:
        self._source = source
        self._function = function
        self._cycle = cycle
        self._block = block
        self._ahead = ahead
        self._opens_all = opens_all

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        over = self._source.iterate(iteration)
        kind = OpenInterleaveIterator if self._opens_all else InterleaveIterator
        return kind(over, self._function, self._cycle, self._block, self._ahead)


class InterleaveIterator(Numbering):
    """Elements of several datasets by turns."""

    def __init__(self, input_iterator: ElementIterator, function: Called, cycle: int, block: int, ahead: int) -> None:
        super().__init__(input_iterator)
        self._function = function
        self._open: list[ElementIterator | None] = [None] * cycle
        self._made_of: list[Element] = [()] * cycle
        self._block = block
        self._ahead = ahead
        self._place = 0
        self._in_block = 0
        self._is_over = False

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        while True:
            current = self._open[self._place]
            if current is not None:
                element = current.next(caller)
                if element is not None:
                    self._in_block += 1
                    if self._in_block == self._block:
                        self._next_place()
                    return element
                current.close()
                self._open[self._place] = None
                self._next_place()
            elif not self._is_over:
                self._open_next(self._place, caller)
            elif any(self._open):
                self._next_place()
            else:
                return None

    def _next_place(self) -> None:
        self._in_block = 0
        self._place = (self._place + 1) % len(self._open)

    def _open_next(self, place: int, caller: Caller) -> None:
        element = None if self._is_over else self._take(caller)
        if element is None:
            self._is_over = True
            return
        self._made_of[place] = element
        self._open[place] = self._made(element, caller, self._number)

    def _made(self, element: Element, caller: Caller, number: int) -> ElementIterator:
        made = source_of(self._function(element, caller, number)[0]).iterate(Iteration())
        return PrefetchIterator(made, self._ahead) if self._ahead else made

    def state(self) -> State:
        """Of what the open datasets were made and where they are, whose turn it is, and where the input is."""
        slots = [None if it is None else [list(of), it.state()] for it, of in zip(self._open, self._made_of, strict=True)]
        return [slots, self._place, self._in_block, self._is_over, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        slots, self._place, self._in_block, self._is_over, inner = state
        super().restore(inner, caller)
        for place, slot in enumerate(slots):
            if slot is None:
                continue
            self._made_of[place] = tuple(slot[0])
            opened = self._open[place] = self._made(self._made_of[place], caller, self._number)
            opened.restore(slot[1], caller)

    def close(self) -> None:
        """Close all datasets."""
        for each in self._open:
            if each is not None:
                each.close()
        super().close()


class OpenInterleaveIterator(InterleaveIterator):
    """Elements of datasets that are all opened at first, as TensorFlow's older parallel interleave takes them.

    A dataset that is over is followed by the next at once, and its turn ends. When there is none, the one behind it goes on
    with what is left of the turn.
    """

    _has_begun = False

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        count = len(self._open)
        if not self._has_begun:
            self._has_begun = True
            for place in range(count):
                self._open_next(place, caller)
        left = count
        while left:
            place = (self._place + count - left) % count
            current = self._open[place]
            element = None if current is None else current.next(caller)
            if element is not None:
                self._place = place
                self._in_block += 1
                if self._in_block == self._block:
                    self._next_place()
                return element
            left -= 1
            if current is not None:
                current.close()
                self._open[place] = None
                self._open_next(place, caller)
                if self._open[place] is not None:
                    self._place, self._in_block, left = (place + 1) % count, 0, count
        return None

    def state(self) -> State:
        """As of any interleaving, and whether the datasets have been opened."""
        return [self._has_begun, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._has_begun, inner = state
        super().restore(inner, caller)


def cycle_of(cycle_length: Array) -> int:
    """How many datasets are open at a time; -1 leaves it to this process."""
    return os.cpu_count() or 1 if int(cycle_length) == -1 else positive(cycle_length, "cycle_length")


def positive(value: Array, name: str) -> int:
    if int(value) < 1:
        raise InvalidArgumentError.of(f"{name} must be greater than zero.")
    return int(value)


@dataset_op("InterleaveDataset", "input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64", calls=("f",))  # fmt: skip
def interleave_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], cycle_length: Array, block_length: Array, *,
    f: Function, Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Elements of the datasets that `f` makes, by turns.

    `scalar variant, n*[*argument], scalar int64, scalar int64 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    turns = cycle_of(cycle_length), positive(block_length, "block_length")
    return Interleaved(source_of(input_dataset), function, *turns)


@dataset_op("ParallelInterleaveDatasetV2", "input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64, num_parallel_calls: int64", calls=("f",))  # fmt: skip
def parallel_interleave_dataset_v2(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], cycle_length: Array, block_length: Array,
    num_parallel_calls: Array, *, f: Function, Targuments: list[DType], output_types: list[DType],
    output_shapes: list[Dims], sloppy: bool = False,
) -> Source:  # fmt: skip
    """Elements of the datasets that `f` makes, by turns, each read by a thread of its own.

    `scalar variant, n*[*argument], scalar int64, scalar int64, scalar int64 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    calls_at_once(num_parallel_calls)
    cycle, block = cycle_of(cycle_length), positive(block_length, "block_length")
    return Interleaved(source_of(input_dataset), function, cycle, block, ahead=max(16, 2 * block))


@dataset_op("ParallelInterleaveDataset", "input_dataset: variant, other_arguments: [Targuments], cycle_length: int64, "
            "block_length: int64, sloppy: bool, buffer_output_elements: int64, prefetch_input_elements: int64",
            calls=("f",))  # fmt: skip
def parallel_interleave_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], cycle_length: Array, block_length: Array,
    sloppy: Array, buffer_output_elements: Array, prefetch_input_elements: Array, *, f: Function, Targuments: list[DType],
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """Elements of the datasets that `f` makes, by turns, each read by a thread of its own; in order, `sloppy` or not.

    `scalar variant, n*[*argument], scalar int64, scalar int64, scalar bool, scalar int64, scalar int64 -> scalar variant`
    """
    function = Called(ctx, "f", "other_arguments", other_arguments)
    cycle, block = cycle_of(cycle_length), positive(block_length, "block_length")
    ahead = positive(buffer_output_elements, "buffer_output_elements")
    return Interleaved(source_of(input_dataset), function, cycle, block, max(ahead, 16), opens_all=True)


class DirectedIterator(ElementIterator):
    """Elements of several iterations, as the elements of another one choose."""

    def __init__(self, selector: ElementIterator, inputs: list[ElementIterator | None], stops_on_empty: bool) -> None:
        self._selector = selector
        self._inputs = inputs
        self._stops_on_empty = stops_on_empty

    def next(self, caller: Caller) -> Element | None:
        """The next element; choices of an input that is over are passed over."""
        while any(each is not None for each in self._inputs):
            choice = self._selector.next(caller)
            if choice is None:
                return None
            number = int(choice[0])
            if not 0 <= number < len(self._inputs):
                raise InvalidArgumentError.of(
                    f"Selector index out of range: {number} is not in [0, {len(self._inputs)}), the numbers of the datasets"
                )
            chosen = self._inputs[number]
            element = None if chosen is None else chosen.next(caller)
            if element is not None:
                return element
            self._inputs[number] = None
            if self._stops_on_empty:
                self._inputs = [None] * len(self._inputs)
        return None

    def state(self) -> State:
        """Where all of them are."""
        return [self._selector.state(), [None if each is None else each.state() for each in self._inputs]]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._selector.restore(state[0], caller)
        for number, inner in enumerate(state[1]):
            each = self._inputs[number]
            if inner is None or each is None:
                self._inputs[number] = None
            else:
                each.restore(inner, caller)

    def close(self) -> None:
        """Close all of them."""
        for each in (self._selector, *self._inputs):
            if each is not None:
                each.close()


class Directed(Source):
    """Elements of several datasets, as those of another one choose."""

    def __init__(self, selector: Source, sources: Sequence[Source], stops_on_empty: bool) -> None:
        self._selector = selector
        self._sources = sources
        self._stops_on_empty = stops_on_empty

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        inputs: list[ElementIterator | None] = [each.iterate(iteration) for each in self._sources]
        return DirectedIterator(self._selector.iterate(iteration), inputs, self._stops_on_empty)


@dataset_op("DirectedInterleaveDataset", "selector_input_dataset: variant, data_input_datasets: N*variant", limits={"N": 1})
def directed_interleave_dataset(
    ctx: OpContext, selector_input_dataset: Array, data_input_datasets: Sequence[Array], *, output_types: list[DType],
    output_shapes: list[Dims], stop_on_empty_dataset: bool = False,
) -> Source:  # fmt: skip
    """Elements of datasets in the order that numbers tell: `scalar variant, n*scalar variant -> scalar variant`."""
    sources = [source_of(each) for each in data_input_datasets]
    return Directed(source_of(selector_input_dataset), sources, stop_on_empty_dataset)

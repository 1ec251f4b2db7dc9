"""Datasets that call a function for each element: map, filter, take_while, scan."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError, OutOfRangeError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import (
    Called,
    Element,
    ElementIterator,
    Iteration,
    OverInput,
    Source,
    State,
    dataset_op,
    joined_progress,
    restored_item,
    saved_item,
    source_of,
)
from weft.ops.data.pool import Pace


class Mapped(Source):
    """The results of a function for each element."""

    def __init__(self, source: Source, function: Called, ends_with_input: bool) -> None:
        self._source = source
        self._function = function
        self._ends_with_input = ends_with_input

    @property
    def size(self) -> int | None:
        """As many as there are elements."""
        return self._source.size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return MapIterator(self._source.iterate(iteration), self._function, self._ends_with_input)


class Numbering(OverInput):
    """An iteration that counts the elements that it took."""

    def __init__(self, input_iterator: ElementIterator) -> None:
        super().__init__(input_iterator)
        self._number = -1

    def _take(self, caller: Caller) -> Element | None:
        element = self._input.next(caller)
        if element is not None:
            self._number += 1
        return element

    def state(self) -> State:
        """The count, and where the input is."""
        return [self._number, self._input.state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._number, inner = state
        self._input.restore(inner, caller)


class MapIterator(Numbering):
    """The results of a function.

    What wants many gets them side by side, node by node, where nobody can tell: each node has its code and data in the
    processor's caches then. A small image with a label takes 10 us of CPU so instead of 17, a distorted one 165 instead of 220
    (two cores beside other work, December 2026).

    Args:
        input_iterator: gives its arguments.
        function: the function.
        ends_with_input: whether an OutOfRangeError of the function is an error; else it is the end.
    """

    def __init__(self, input_iterator: ElementIterator, function: Called, ends_with_input: bool) -> None:
        super().__init__(input_iterator)
        self._ends_with_input = ends_with_input
        self._pace = Pace(function)
        self._held: deque[Element | Exception] = deque()  # behind one that has failed

    @property
    def only_computes(self) -> bool:
        """Whether the function does, and the input."""
        return self._pace.only_computes and self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next result."""
        try:
            if self._held:
                made = self._held.popleft()
                if isinstance(made, Exception):
                    raise made
                return made
            element = self._take(caller)
            return None if element is None else tuple(self._pace.call(element, caller, self._number))
        except OutOfRangeError as error:
            self._ended(error)
            return None

    def next_some(self, caller: Caller, most: int) -> Sequence[Element]:
        """The next results, as many as are made side by side."""
        most = min(most, self._pace.most)
        if most < 2 or self._held:
            return super().next_some(caller, most)
        elements, failure = self._take_some(caller, most)
        first = self._number + 1
        self._number += len(elements)
        self._held.extend(self._pace.each(elements, caller, first))
        if failure is not None:
            self._held.append(failure)
        found: list[Element] = []
        while self._held and not isinstance(made := self._held[0], Exception):
            found.append(made)
            self._held.popleft()
        return found if found or not self._held else super().next_some(caller, most)

    def _take_some(self, caller: Caller, most: int) -> tuple[list[Element], Exception | None]:
        """The next elements of the input, and the error that came behind them; that of the first is raised."""
        elements: list[Element] = []
        while len(elements) < most:
            try:
                some = self._input.next_some(caller, most - len(elements))
            except Exception as error:
                if not elements:
                    raise
                return elements, error
            if not some:
                break
            elements += some
        return elements, None

    def _ended(self, error: OutOfRangeError) -> None:
        """Take it for the end that the function ended."""
        if self._ends_with_input:
            raise InvalidArgumentError.of(f"Function invocation produced OutOfRangeError: {error.message}") from error

    def state(self) -> State:
        """As of any that counts, and the results that are held."""
        if not self._held:
            return super().state()
        held = [saved_item(None, made) if isinstance(made, Exception) else saved_item(made, None) for made in self._held]
        return [*super().state(), held]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        number, inner, *held = state
        super().restore([number, inner], caller)
        items = [restored_item(item) for item in (held[0] if held else ())]
        self._held = deque(element if error is None else error for element, error in items)  # type: ignore[misc]


@dataset_op("MapDataset", "input_dataset: variant, other_arguments: [Targuments]", calls=("f",))
def map_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], *, f: Function, Targuments: list[DType],
    output_types: list[DType], output_shapes: list[Dims], use_inter_op_parallelism: bool = True,
    preserve_cardinality: bool = False,
) -> Source:  # fmt: skip
    """The results of `f` for each element: `scalar variant, n*[*argument] -> scalar variant`."""
    function = Called(ctx, "f", "other_arguments", other_arguments)
    return Mapped(source_of(input_dataset), function, preserve_cardinality)


class Filtered(Source):
    """The elements for which a function is true; with `stops`, those before the first for which it is not."""

    def __init__(self, source: Source, predicate: Called, stops: bool) -> None:
        self._source = source
        self._predicate = predicate
        self._stops = stops

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return FilterIterator(self._source.iterate(iteration), self._predicate, self._stops)


class FilterIterator(Numbering):
    """The elements for which a function is true."""

    def __init__(self, input_iterator: ElementIterator, predicate: Called, stops: bool) -> None:
        super().__init__(input_iterator)
        self._predicate = predicate
        self._stops = stops
        self._is_over = False

    @property
    def only_computes(self) -> bool:
        """Whether it ends with the first that is not true, and function and input do: to find one may take for ever."""
        return self._stops and self._predicate.only_computes and self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        while not self._is_over:
            element = self._take(caller)
            if element is None:
                return None
            answer = self._predicate(element, caller, self._number)[0]
            if np.ndim(answer):
                raise InvalidArgumentError.of(f"Filter predicate `f` must return a scalar bool ({self._predicate.where}).")
            if answer:
                return element
            self._is_over = self._stops
            # Who has ended is not to look for ever.
            caller.raise_if_cancelled()
        return None

    def progress(self) -> str:
        """How many elements it has looked at."""
        return joined_progress(f"filter has looked at {self._number} elements", super().progress())

    def state(self) -> State:
        """Whether it is over, and where the input is."""
        return [self._is_over, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._is_over, inner = state
        super().restore(inner, caller)


@dataset_op("FilterDataset", "input_dataset: variant, other_arguments: [Targuments]", calls=("predicate",))
def filter_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], *, predicate: Function,
    Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The elements for which `predicate` is true: `scalar variant, n*[*argument] -> scalar variant`."""
    function = Called(ctx, "predicate", "other_arguments", other_arguments)
    return Filtered(source_of(input_dataset), function, stops=False)


@dataset_op("TakeWhileDataset", "input_dataset: variant, other_arguments: [Targuments]", calls=("predicate",))
def take_while_dataset(
    ctx: OpContext, input_dataset: Array, other_arguments: Sequence[Array], *, predicate: Function,
    Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """The elements up to the first for which `predicate` is false: `scalar variant, n*[*argument] -> scalar variant`."""
    function = Called(ctx, "predicate", "other_arguments", other_arguments)
    return Filtered(source_of(input_dataset), function, stops=True)


class Scanned(Source):
    """The results of a function of a state and an element, which also gives the next state."""

    def __init__(self, source: Source, initial: Sequence[Array], function: Called) -> None:
        self._source = source
        self._initial = initial
        self._function = function

    @property
    def size(self) -> int | None:
        """As many as there are elements."""
        return self._source.size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return ScanIterator(self._source.iterate(iteration), list(self._initial), self._function)


class ScanIterator(Numbering):
    """The results of a function of a state and an element."""

    def __init__(self, input_iterator: ElementIterator, state: list[Array], function: Called) -> None:
        super().__init__(input_iterator)
        self._state = state
        self._function = function

    @property
    def only_computes(self) -> bool:
        """Whether the function does, and the input."""
        return self._function.only_computes and self._input.only_computes

    def next(self, caller: Caller) -> Element | None:
        """The next result."""
        element = self._take(caller)
        if element is None:
            return None
        results = self._function([*self._state, *element], caller, self._number, element)
        count = len(self._state)
        self._state = results[:count]
        return tuple(results[count:])

    def state(self) -> State:
        """The function's state, and where the input is."""
        return [self._state, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        self._state, inner = state
        super().restore(inner, caller)


@dataset_op("ScanDataset", "input_dataset: variant, initial_state: [Tstate], other_arguments: [Targuments]", calls=("f",))
def scan_dataset(
    ctx: OpContext, input_dataset: Array, initial_state: Sequence[Array], other_arguments: Sequence[Array], *,
    f: Function, Tstate: list[DType], Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
    preserve_cardinality: bool = False,
) -> Source:  # fmt: skip
    """The results of `f` for a state and each element: `scalar variant, s*[*state], n*[*argument] -> scalar variant`."""
    return Scanned(source_of(input_dataset), initial_state, Called(ctx, "f", "other_arguments", other_arguments))

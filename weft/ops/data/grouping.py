"""Datasets of groups by key, and values of whole datasets: reduce, one element, how many there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import Called, Element, ElementIterator, Iteration, Source, State, boxed, dataset_op, source_of
from weft.ops.data.mapping import Numbering
from weft.ops.data.reshaping import Listed
from weft.ops.declaration import not_differentiable, op, scalar_shape


class Grouped(Source):
    """What a function makes of each group of elements with one key."""

    def __init__(self, source: Source, key: Called, reduce: Called, size: Called) -> None:
        self._source = source
        self._functions = key, reduce, size

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return GroupIterator(self._source.iterate(iteration), *self._functions)


class GroupIterator(Numbering):
    """What a function makes of groups, as soon as one is as large as another function says; the rest at the end."""

    def __init__(self, over: ElementIterator, key: Called, reduce: Called, size: Called) -> None:
        super().__init__(over)
        self._key = key
        self._reduce = reduce
        self._size = size
        self._groups: dict[int, list[Element]] = {}
        self._sizes: dict[int, int] = {}
        self._is_over = False
        self._present: tuple[int, list[Element]] | None = None
        self._made: ElementIterator | None = None

    def next(self, caller: Caller) -> Element | None:
        """The next element of what was made of a group."""
        while True:
            if self._made is not None:
                found = self._made.next(caller)
                if found is not None:
                    return found
                self._made.close()
                self._made = self._present = None
            if not self._is_over:
                self._add(caller)
            elif self._groups:
                self._begin(min(self._groups), caller)
            else:
                return None

    def _add(self, caller: Caller) -> None:
        element = self._take(caller)
        if element is None:
            self._is_over = True
            return
        key = int(self._key(element, caller, self._number)[0])
        if key not in self._groups:
            self._groups[key] = []
            self._sizes[key] = self._window(key, caller)
        self._groups[key].append(element)
        if len(self._groups[key]) == self._sizes[key]:
            self._begin(key, caller)

    def _window(self, key: int, caller: Caller) -> int:
        size = int(self._size([np.asarray(key, np.int64)], caller, self._number)[0])
        if size <= 0:
            raise InvalidArgumentError.of(f"Window size must be greater than zero, but got {size}.")
        return size

    def _begin(self, key: int, caller: Caller) -> None:
        self._present = key, self._groups.pop(key)
        self._begin_present(caller)

    def _begin_present(self, caller: Caller) -> None:
        assert self._present is not None
        key, elements = self._present
        arguments = [np.asarray(key, np.int64), boxed(Listed(elements))]
        self._made = source_of(self._reduce(arguments, caller, self._number)[0]).iterate(Iteration())

    def state(self) -> State:
        """The groups that are not complete, the present one, and where the input is."""
        groups = [[key, elements, self._sizes[key]] for key, elements in self._groups.items()]
        made = None if self._present is None or self._made is None else [*self._present, self._made.state()]
        return [groups, made, self._is_over, super().state()]

    def restore(self, state: State, caller: Caller) -> None:
        """Go there."""
        groups, made, self._is_over, inner = state
        super().restore(inner, caller)
        self._groups = {key: elements for key, elements, _ in groups}
        self._sizes = {key: size for key, _, size in groups}
        if made is not None:
            self._present = made[0], made[1]
            self._begin_present(caller)
            assert self._made is not None
            self._made.restore(made[2], caller)

    def close(self) -> None:
        """Close what was made, and the input."""
        if self._made is not None:
            self._made.close()
        super().close()


@dataset_op("GroupByWindowDataset", "input_dataset: variant, key_func_other_arguments: [Tkey_func_other_arguments], "
            "reduce_func_other_arguments: [Treduce_func_other_arguments], "
            "window_size_func_other_arguments: [Twindow_size_func_other_arguments]",
            calls=("key_func", "reduce_func", "window_size_func"))  # fmt: skip
def group_by_window_dataset(
    ctx: OpContext, input_dataset: Array, key_func_other_arguments: Sequence[Array],
    reduce_func_other_arguments: Sequence[Array], window_size_func_other_arguments: Sequence[Array], *, key_func: Function,
    reduce_func: Function, window_size_func: Function, Tkey_func_other_arguments: list[DType],
    Treduce_func_other_arguments: list[DType], Twindow_size_func_other_arguments: list[DType], output_types: list[DType],
    output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """What `reduce_func` makes of groups of one key.

    `scalar variant, k*[*argument], r*[*argument], w*[*argument] -> scalar variant`
    """
    return Grouped(
        source_of(input_dataset),
        Called(ctx, "key_func", "key_func_other_arguments", key_func_other_arguments),
        Called(ctx, "reduce_func", "reduce_func_other_arguments", reduce_func_other_arguments),
        Called(ctx, "window_size_func", "window_size_func_other_arguments", window_size_func_other_arguments),
    )


def _attr_shapes(node: Operation) -> list[Dims]:
    return list(node.attrs["output_shapes"])


@op("ReduceDataset", "input_dataset: variant, initial_state: [Tstate], other_arguments: [Targuments] "
    "-> components: [output_types]",
    infer=_attr_shapes, gradient=not_differentiable, stateful=True, allows_uninitialized=True, calls=("f",))  # fmt: skip
def reduce_dataset(
    ctx: OpContext, input_dataset: Array, initial_state: Sequence[Array], other_arguments: Sequence[Array], *, f: Function,
    Tstate: list[DType], Targuments: list[DType], output_types: list[DType], output_shapes: list[Dims],
    use_inter_op_parallelism: bool = True,
) -> list[Result]:  # fmt: skip
    """The last state that `f` makes of a state and an element: `scalar variant, s*[*state], n*[*argument] -> s*[*state]`."""
    function, caller = Called(ctx, "f", "other_arguments", other_arguments), ctx.caller()
    state, number = list(initial_state), 0
    elements = source_of(input_dataset).iterate(Iteration())
    try:
        while (element := elements.next(caller)) is not None:
            ctx.raise_if_cancelled()
            state = function([*state, *element], caller, number, element)
            number += 1
    finally:
        elements.close()
    return state


@op("DatasetToSingleElement", "dataset: variant -> components: [output_types]", infer=_attr_shapes,
    gradient=not_differentiable, stateful=True)  # fmt: skip
def dataset_to_single_element(
    ctx: OpContext, dataset: Array, *, output_types: list[DType], output_shapes: list[Dims]
) -> list[Result]:
    """The only element: `scalar variant -> n*[*component]`."""
    elements, caller = source_of(dataset).iterate(Iteration()), ctx.caller()
    try:
        found = elements.next(caller)
        if found is None:
            raise InvalidArgumentError.of("Dataset was empty.")
        if elements.next(caller) is not None:
            raise InvalidArgumentError.of("Dataset had more than one element.")
        return list(found)
    finally:
        elements.close()


@op("DatasetCardinality", "input_dataset: variant -> cardinality: int64", infer=scalar_shape, gradient=not_differentiable)
def dataset_cardinality(ctx: OpContext, input_dataset: Array) -> Result:
    """How many elements there are, -1 without end, -2 where only an iteration tells: `scalar variant -> scalar int64`."""
    size = source_of(input_dataset).size
    return np.asarray(-2 if size is None else size, np.int64)

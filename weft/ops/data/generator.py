"""Datasets of a state that functions make, ask for elements and end: Python's generators, by way of py_func."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence

from weft.errors import OpError, OutOfRangeError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller, OpContext
from weft.framework.types.attr_value import FunctionName as Function
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data.element import Called, Element, ElementIterator, Iteration, Source, State, dataset_op


class Generated(Source):
    """What a function gives for a state until it raises OutOfRangeError."""

    def __init__(self, begin: Called, following: Called, end: Called) -> None:
        self._functions = begin, following, end

    def iterate(self, iteration: Iteration) -> ElementIterator:
        """Begin going over it."""
        return GeneratorIterator(*self._functions)


class GeneratorIterator(ElementIterator):
    """The elements of one state; the state ends with this iterator, at the latest."""

    def __init__(self, begin: Called, following: Called, end: Called) -> None:
        self._begin = begin
        self._following = following
        self._ending = end
        self._state: list[Array] | None = None
        self._taken = 0
        self._is_over = False
        self._finish: weakref.finalize[..., GeneratorIterator] | None = None

    def next(self, caller: Caller) -> Element | None:
        """The next element."""
        if self._is_over:
            return None
        if self._state is None:
            self._state = self._begin((), caller, 0)
            self._finish = weakref.finalize(self, _end, self._ending, self._state, caller.apart())
            self._finish.atexit = False
        try:
            made = self._following(self._state, caller, self._taken)
        except OutOfRangeError:
            self._is_over = True
            self.close()
            return None
        self._taken += 1
        return tuple(made)

    def state(self) -> State:
        """How many elements were taken: the generator itself cannot be saved."""
        return [self._taken, self._is_over]

    def restore(self, state: State, caller: Caller) -> None:
        """Take as many elements of a new state."""
        taken, is_over = state
        for _ in range(taken):
            self.next(caller)
        self._is_over = is_over

    def close(self) -> None:
        """End the state."""
        if self._finish is not None:
            self._finish()


def _end(function: Called, state: list[Array], caller: Caller) -> None:
    # The state may belong to a graph that is gone.
    with contextlib.suppress(OpError):
        function(state, caller, 0)


@dataset_op("GeneratorDataset", "init_func_other_args: [Tinit_func_args], next_func_other_args: [Tnext_func_args], "
            "finalize_func_other_args: [Tfinalize_func_args]",
            calls=("init_func", "next_func", "finalize_func"), stateful=True)  # fmt: skip
def generator_dataset(
    ctx: OpContext, init_func_other_args: Sequence[Array], next_func_other_args: Sequence[Array],
    finalize_func_other_args: Sequence[Array], *, init_func: Function, next_func: Function, finalize_func: Function,
    Tinit_func_args: list[DType], Tnext_func_args: list[DType], Tfinalize_func_args: list[DType],
    output_types: list[DType], output_shapes: list[Dims],
) -> Source:  # fmt: skip
    """What `next_func` gives for the state that `init_func` makes.

    `i*[*argument], n*[*argument], f*[*argument] -> scalar variant`
    """
    return Generated(
        Called(ctx, "init_func", "init_func_other_args", init_func_other_args),
        Called(ctx, "next_func", "next_func_other_args", next_func_other_args),
        Called(ctx, "finalize_func", "finalize_func_other_args", finalize_func_other_args),
    )

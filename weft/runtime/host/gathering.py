"""Gathering: how a call finds its arguments among the values of a run, and its variables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.runtime.program.kernel_errors import uninitialized
from weft.runtime.program.program import Argument, Program
from weft.runtime.state.variable_values import locked_value_of, value_of

Gather: TypeAlias = Callable[[list[Array]], Sequence[Array]]
"""Gathers a call's arguments from the values of a run."""


def gatherer_of(arguments: Sequence[Argument], program: Program, op: Operation, is_locked: bool) -> Gather:
    """How to gather a node's arguments.

    Args:
        arguments: as an instruction has them, with the places of the plan.
        program: whose variables they may be.
        op: the node.
        is_locked: whether runs hold the variables' locks.
    """
    places = [each for each in arguments if type(each) is int and each >= 0]
    if len(places) < len(arguments):
        given = [each for each in arguments if each is not None]
        if len(given) == len(arguments) and all(_is_value(each) for each in given):
            return _with_lists(given)
        return _Mixed(arguments, program, op, is_locked).gather
    return taker_of(places)


def taker_of(places: Sequence[int]) -> Gather:
    """How to take what lies at some places of a list."""
    if len(places) > 1:
        return itemgetter(*places)
    # Of one place `itemgetter` makes no sequence; a slice keeps it in C.
    first = places[0] if places else 0
    return itemgetter(slice(first, first + len(places)))


def _is_value(argument: int | list[int]) -> bool:
    return min(argument, default=0) >= 0 if isinstance(argument, list) else argument >= 0


def _with_lists(arguments: Sequence[int | list[int]]) -> Gather:
    """The gatherer of values and lists of values, as of what is joined or summed: 1 µs less than one of variables too."""
    parts: list[int | Gather] = [taker_of(each) if isinstance(each, list) else each for each in arguments]

    def gathered(values: list[Array]) -> Sequence[Array]:
        return [values[each] if isinstance(each, int) else list(each(values)) for each in parts]

    return gathered


class _Mixed:
    """Arguments some of which are variables, lists, or absent."""

    __slots__ = ("_arguments", "_may_be_none", "_op", "_read", "_slots")

    def __init__(self, arguments: Sequence[Argument], program: Program, op: Operation, is_locked: bool) -> None:
        self._arguments = arguments
        self._slots = program.slots
        self._op = op
        self._read = locked_value_of if is_locked else value_of
        self._may_be_none = op.op_def.allows_uninitialized

    def gather(self, values: list[Array]) -> Sequence[Array]:
        """The arguments."""
        return [
            values[each]
            if type(each) is int and each >= 0
            else value
            if type(each) is int and type(value := self._slots[~each].value) is np.ndarray
            else self._other(each, values)
            for each in self._arguments
        ]

    def _other(self, argument: Argument, values: list[Array]) -> Array:
        if argument is None:
            return None
        if isinstance(argument, list):
            return [values[each] if each >= 0 else self._other(each, values) for each in argument]
        value = self._read(self._slots[~argument])
        if value is None and not self._may_be_none:
            raise uninitialized(self._op, self._slots[~argument].name)
        return value

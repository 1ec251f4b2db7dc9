"""Passage: where the outputs come from of a program that only passes values on, such as the reads of a parameter server.

Found once, so that a step takes the values and runs no node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from weft.runtime.program.program import Instruction, Program
from weft.runtime.state.binder import BINDINGS
from weft.runtime.state.state import State

_PASSING: Final = frozenset(("Identity", "StopGradient", "PreventGradient", "ReadVariableOp", "PlaceholderWithDefault"))
_WITHOUT_VALUE: Final = BINDINGS | {"NoOp"}


class Passage:
    """The sources of a program's outputs: numbers of inputs, `~number` of variables, or constants; see `passage_of`."""

    def __init__(self, sources: Sequence[Any], read_slots: set[int]) -> None:
        self._sources = list(sources)
        self._only_read = sorted(read_slots - {~source for source in sources if isinstance(source, int)})

    def take(self, inputs: Sequence[Any], state: State) -> list[Any] | None:
        """The outputs; None if a variable has no value, about which the nodes have to be asked."""
        for number in self._only_read:
            if state.read(number) is None:
                return None
        outputs: list[Any] = []
        for source in self._sources:
            value = source if not isinstance(source, int) else inputs[source] if source >= 0 else state.read(~source)
            if value is None:
                return None
            outputs.append(value)
        return outputs


def passage_of(program: Program) -> Passage | None:
    """The passage of a program; None if it assigns or computes, or gives variables out as they are at its end."""
    if program.settled or program.written_slots:
        return None
    sources: dict[int, Any] = {number: number for number in range(len(program.inputs))}
    if not all(_follow(instruction, sources) for instruction in program.instructions):
        return None
    return Passage([sources[number] for number in program.output_numbers], program.read_slots)


def _follow(instruction: Instruction, sources: dict[int, Any]) -> bool:
    """Note where an instruction's results come from; False if it makes them."""
    kind = instruction.op.type
    for number, slot in instruction.ref_outputs:
        sources[number] = ~slot
    if kind in _PASSING and instruction.outputs:
        argument = instruction.arguments[0]
        sources[instruction.outputs[0]] = sources[argument] if argument >= 0 else argument
    elif kind == "Const":
        value = instruction.op.attrs["value"]
        sources[instruction.outputs[0]] = value
        return isinstance(value, np.ndarray) and value.dtype == instruction.dtypes[0]
    return kind in _PASSING or kind in _WITHOUT_VALUE

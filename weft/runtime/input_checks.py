"""What a compiled stage refuses before it runs: values for which NumPy would raise and XLA computes something else.

Only arrays in host memory are looked at, such as feeds, constants and what host ops made: waiting for a device would cost
more than the check is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from weft.errors import OpError
from weft.framework.operation import Operation
from weft.runtime.program import Program

# Ops that move elements around but keep their values, so that a check may look at what goes in.
_VALUE_KEEPING: Final = frozenset(("Identity", "Reshape", "ExpandDims", "Squeeze", "StopGradient", "PreventGradient"))

_Source = Callable[[Sequence[Any]], Any]


class InputChecks:
    """The checks of one stage; empty for most."""

    def __init__(self, program: Program) -> None:
        self._count = len(program.inputs)
        self._made_by = {number: each for each in program.instructions for number in each.outputs}
        self._slots = program.slots
        self._checks: list[tuple[Operation, list[_Source]]] = [
            (each.op, [self._source(argument) for argument in each.arguments])
            for each in program.instructions
            if each.op.op_def.check is not None
        ]

    def __bool__(self) -> bool:
        return bool(self._checks)

    def run(self, inputs: Sequence[Any]) -> None:
        """Look at the values that the stage is about to run on; raises what the checks raise, with the op."""
        for op, sources in self._checks:
            try:
                op.op_def.check(op, *(source(inputs) for source in sources))  # type: ignore[misc]
            except OpError as error:
                error._op = op
                raise

    def _source(self, argument: Any) -> _Source:
        if type(argument) is list:
            return _unknown
        if argument < 0:
            slot = self._slots[~argument]
            return lambda inputs: slot.value
        while argument >= self._count and argument in self._made_by:
            maker = self._made_by[argument]
            if maker.op.type == "Const":
                value = maker.op.attrs["value"]
                return lambda inputs: value
            if maker.op.type not in _VALUE_KEEPING or type(maker.arguments[0]) is list or maker.arguments[0] < 0:
                return _unknown
            argument = maker.arguments[0]
        return (lambda inputs: _in_host_memory(inputs[argument])) if argument < self._count else _unknown


def _in_host_memory(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else None


def _unknown(inputs: Sequence[Any]) -> Any:
    return None

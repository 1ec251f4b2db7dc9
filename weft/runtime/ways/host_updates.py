"""HostUpdates: a stage that only updates whole variables, done on NumPy without interpreting its nodes one by one.

Where each argument comes from is found once. On a parameter server such stages are most of what there is to compute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.runtime.program.kernel_errors import raise_located, uninitialized
from weft.runtime.program.program import ALIASES, Instruction, Program
from weft.runtime.state.variable_slot import VariableSlot
from weft.runtime.xla.xla_process import as_numpy


class HostUpdates:
    """The updates of a program. Who runs it holds the locks of all its variables; see `host_updates_of`."""

    def __init__(self, program: Program, updates: Sequence[_Update]) -> None:
        self._slots = program.slots
        self._updates = updates

    # Overflow and division by zero give inf and nan here as they do in compiled code, and no warnings.
    @np.errstate(all="ignore")
    def run(self, inputs: Sequence[Any]) -> None:
        """Update the variables by arrays in host memory."""
        for update in self._updates:
            try:
                update.run(inputs, self._slots)
            except Exception as error:
                raise_located(update.op, error)


class _Update:
    """One node; `arguments` are its arguments behind the variables: an input's number, or a constant."""

    __slots__ = ("_arguments", "_kernel", "_keywords", "_slots", "_takes_xp", "op")

    def __init__(self, instruction: Instruction, arguments: Sequence[Any]) -> None:
        self.op = instruction.op
        self._slots = instruction.updates
        self._kernel: Callable[..., Any] = instruction.kernel
        self._keywords = instruction.keywords
        self._arguments = list(arguments)
        self._takes_xp = instruction.takes_xp

    def run(self, inputs: Sequence[Any], slots: Sequence[VariableSlot]) -> None:
        arguments: list[Any] = [np] if self._takes_xp else []
        for number in self._slots:
            value = slots[number].value
            if value is None:
                raise uninitialized(self.op)
            arguments.append(value if type(value) is np.ndarray else as_numpy(value))
        for argument in self._arguments:
            arguments.append(inputs[argument] if type(argument) is int else argument)
        new = self._kernel(*arguments, **self._keywords)
        for number, value in zip(self._slots, new if type(new) is tuple else (new,), strict=False):
            slots[number].put(np.asarray(value))


def host_updates_of(program: Program) -> HostUpdates | None:
    """The updates of a program that does nothing else and has no outputs; None for any other."""
    if program.outputs or program.settled or program.random_nodes:
        return None
    sources: dict[int, Any] = {number: number for number in range(len(program.inputs))}
    updates: list[_Update] = []
    for instruction in program.instructions:
        op = instruction.op
        if op.type == "Const" and isinstance(op.attrs["value"], np.ndarray):
            sources[instruction.outputs[0]] = op.attrs["value"]
        elif op.op_def.updates:
            update = _update(instruction, sources)
            if update is None:
                return None
            updates.append(update)
        elif op.type not in ALIASES or instruction.outputs:
            return None
    return HostUpdates(program, updates) if updates else None


def _update(instruction: Instruction, sources: dict[int, Any]) -> _Update | None:
    definition = instruction.op.op_def
    count = len(instruction.updates)
    is_plain = not (definition.by_row or definition.compiled_only or definition.is_host or definition.allows_uninitialized)
    if not is_plain or instruction.outputs or instruction.ref_outputs:
        return None
    if instruction.arguments[:count] != [~number for number in instruction.updates]:
        return None
    arguments = [sources.get(a) if type(a) is int and a >= 0 else None for a in instruction.arguments[count:]]
    return None if any(a is None for a in arguments) else _Update(instruction, arguments)

"""RowWork: a stage that only takes rows of tables and updates rows, without interpreting its nodes one by one.

Where each argument comes from is found once. On a parameter server of embeddings such stages are all that runs, a few times in
each millisecond, and what Python does around the arithmetic runs on cold caches.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.runtime.program.kernel_errors import raise_located, uninitialized
from weft.runtime.program.program import ALIASES, Instruction, Program
from weft.runtime.state.state import LockedState


class RowWork:
    """The gathers and updates of a program. Who runs it holds the locks of all its variables; see `row_work_of`."""

    def __init__(self, program: Program, work: Sequence[_Gather | _Update], constants: dict[int, Any]) -> None:
        self._work = work
        self._state = LockedState(program.slots)
        self._outputs = program.output_numbers
        self._values: list[Any] = [constants.get(number) for number in range(program.size)]
        known = {*range(len(program.inputs)), *constants}
        self._early = [each for each in work if isinstance(each, _Update) and each.prepare(known, self._values)]

    def begin(self, inputs: Sequence[Any]) -> list[Any]:
        """Take the inputs, arrays in host memory, and do what needs no variable; returns what `run` takes."""
        values = self._values.copy()
        values[: len(inputs)] = inputs
        if self._early:
            self._look_ahead(values)
        return values

    @np.errstate(all="ignore")
    def _look_ahead(self, values: list[Any]) -> None:
        for update in self._early:
            update.look_ahead(values)

    # Overflow and division by zero give inf and nan here as they do in compiled code, and no warnings.
    @np.errstate(all="ignore")
    def run(self, values: list[Any]) -> list[Any]:
        """Do the work that was begun, and return the outputs.

        Raises:
            OpError: a node failed; the error carries it.
        """
        for each in self._work:
            try:
                each.run(values, self._state)
            except Exception as error:
                raise_located(each.op, error)
        return [values[number] for number in self._outputs]


class _Node:
    __slots__ = ("_arguments", "_kernel", "_keywords", "op")

    def __init__(self, instruction: Instruction) -> None:
        self.op = instruction.op
        self._arguments: Sequence[int] = instruction.arguments
        self._kernel: Any = instruction.kernel
        self._keywords = instruction.keywords


class _Gather(_Node):
    """Rows of the variable that is the first argument."""

    __slots__ = ("_dtype", "_output")

    def __init__(self, instruction: Instruction) -> None:
        super().__init__(instruction)
        (self._output,) = instruction.outputs
        (self._dtype,) = instruction.dtypes

    def run(self, values: list[Any], state: LockedState) -> None:
        table, *others = self._arguments
        found = state.read(~table)
        if found is None:
            raise uninitialized(self.op)
        values[self._output] = np.asarray(
            self._kernel(np, found, *[values[number] for number in others], **self._keywords), self._dtype
        )


class _Update(_Node):
    """An update of rows of the variables that are the first arguments."""

    __slots__ = ("_ahead_at", "_slots")

    def __init__(self, instruction: Instruction) -> None:
        super().__init__(instruction)
        self._slots = instruction.updates
        self._arguments = instruction.arguments[len(self._slots) :]
        self._ahead_at = -1

    def prepare(self, known: set[int], values: list[Any]) -> bool:
        """Whether there is something to look ahead for, in values with these numbers; then there is a place for the result."""
        if self.op.op_def.ahead is None or not known.issuperset(self._arguments):
            return False
        self._ahead_at = len(values)
        values.append(None)
        return True

    def look_ahead(self, values: list[Any]) -> None:
        """Work out what can be known without the variables."""
        # A failure is for the kernel to tell of, which finds the same.
        with contextlib.suppress(Exception):
            values[self._ahead_at] = self.op.op_def.ahead(*[values[number] for number in self._arguments])  # type: ignore[misc]

    def run(self, values: list[Any], state: LockedState) -> None:
        others = [values[number] for number in self._arguments]
        keywords = self._keywords if self._ahead_at < 0 else {**self._keywords, "ahead": values[self._ahead_at]}

        def changed(old: list[Any]) -> Sequence[Any]:
            for value in old:
                if value is None:
                    raise uninitialized(self.op)
            new = self._kernel(np, *old, *others, **keywords)
            return new if type(new) is tuple else (new,)

        state.update(self._slots, changed)


def row_work_of(program: Program) -> RowWork | None:
    """The work of a program that does nothing else; None for any other."""
    constants: dict[int, Any] = {}
    work: list[_Gather | _Update] = []
    known = set(range(len(program.inputs)))
    for instruction in program.instructions:
        op = instruction.op
        if op.type == "Const" and _is_array(instruction):
            constants[instruction.outputs[0]] = op.attrs["value"]
        elif op.op_def.by_row and _is_plain(instruction, known | constants.keys()):
            work.append(_Update(instruction) if instruction.updates else _Gather(instruction))
            known.update(instruction.outputs)
        elif op.type not in ALIASES or instruction.outputs or instruction.ref_outputs:
            return None
    return RowWork(program, work, constants) if work and not program.settled else None


def _is_array(instruction: Instruction) -> bool:
    value = instruction.op.attrs["value"]
    return isinstance(value, np.ndarray) and value.dtype == instruction.dtypes[0]


def _is_plain(instruction: Instruction, known: set[int]) -> bool:
    """Whether variables come first among the arguments, those that are updated or one to take from, and then only values."""
    definition = instruction.op.op_def
    if definition.is_host or definition.compiled_only or not definition.takes_xp or instruction.ref_outputs:
        return False
    updates = [~number for number in instruction.updates]
    count = len(updates) or 1
    first, others = instruction.arguments[:count], instruction.arguments[count:]
    if not all(type(argument) is int and argument in known for argument in others):
        return False
    if updates:
        return first == updates and not instruction.outputs
    return type(first[0]) is int and first[0] < 0 and len(instruction.outputs) == 1

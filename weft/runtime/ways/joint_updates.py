"""Joint updates: the dense updates of many variables as one operation on all of their elements, on NumPy.

An optimizer's rule treats each element alike. So where several nodes apply the same rule with the same hyperparameters, their
variables, slots and gradients are joined end to end, and the rule runs once. The variables' new values are views of what it
made. One that is kept for long keeps those of its neighbours, so only small ones come here (`passes/small_updates.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, Final

import numpy as np

from weft.framework.constant_value import constant_value
from weft.framework.tensor_shape import Dims
from weft.passes.row_wise import is_read
from weft.protocol.array_runs import JoinedArrays
from weft.runtime.program.program import Instruction, Program
from weft.runtime.state.binder import BINDINGS
from weft.runtime.state.state import State

_LEAST: Final = 4  # fewer are updated one by one

_DOING_NOTHING: Final = BINDINGS | {"NoOp"}

_shape_of = attrgetter("shape")
_dtype_of = attrgetter("dtype")


class JointUpdate:
    """Instructions that do the same to variables of their own.

    Args:
        members: the instructions; no two touch the same variable, but for reading hyperparameters.
        program: where they come from.
    """

    def __init__(self, members: Sequence[Instruction], program: Program) -> None:
        self.members = list(members)
        first = members[0]
        self._slots = [[program.slots[each.updates[place]] for each in members] for place in range(len(first.updates))]
        self.dims = [_known(slot.dims) for slot in self._slots[0]]
        self._joint = JoinedArrays(self.dims)
        self._joined = {place: [each.arguments[place] for each in members] for place in _gradient_places(first)}

    def run(self, values: Sequence[Any], state: State) -> bool:
        """Update all variables; False if that has to be done one by one, as where one has no value, and nothing was done.

        For who holds the variables' locks.
        """
        instruction = self.members[0]
        arguments: list[Any] = []
        for place, argument in enumerate(instruction.arguments):
            if place < len(self._slots):
                gathered: Any = self._join([state.read(~each.arguments[place]) for each in self.members])
            elif place in self._joined:
                gathered = self._join([values[number] for number in self._joined[place]])
            else:
                gathered = values[argument] if argument >= 0 else state.read(~argument)
            if gathered is None:
                return False
            arguments.append(gathered)
        for slots, made in zip(self._slots, instruction.kernel(np, *arguments, **instruction.keywords), strict=True):
            made.flags.writeable = False
            for slot, value in zip(slots, self._joint.split(made), strict=True):
                slot.value = value
        return True

    def _join(self, arrays: list[Any]) -> Any:
        """The arrays' elements, one after the other; None if an array is not what its node declares."""
        try:
            if list(map(_shape_of, arrays)) != self.dims or len(set(map(_dtype_of, arrays))) != 1:
                return None
        except AttributeError:
            return None  # A variable without a value.
        try:
            return np.frombuffer(b"".join(arrays), arrays[0].dtype)
        except TypeError:
            return np.concatenate([array.reshape(-1) for array in arrays])


def _gradient_places(instruction: Instruction) -> list[int]:
    definition = instruction.op.op_def
    return [place for place, arg in enumerate(definition.inputs) if arg.name in definition.by_element]


class JointProgram:
    """A program whose updates are made together where they can be."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._parts = _Grouping(program).parts

    @property
    def joins(self) -> bool:
        """Whether there is anything to be made together."""
        return any(isinstance(part, JointUpdate) for part in self._parts)

    @np.errstate(all="ignore")
    def run(self, inputs: Sequence[Any], state: State) -> list[Any]:
        """As Program.run on NumPy, for who holds the locks of all variables."""
        program = self._program
        values: list[Any] = [None] * program.size
        values[: len(inputs)] = inputs
        for part in self._parts:
            if not isinstance(part, JointUpdate):
                program.run_some(part, np, values, state, ())
            elif not part.run(values, state):
                # One by one they do what they can, and raise what they must.
                program.run_some(part.members, np, values, state, ())
        return program.results(values, state)


class _Grouping:
    """Puts instructions that can be one together, each group where its last member stands.

    That moves a member behind instructions that come after it. Those must not see the difference: a group ends before whatever
    touches one of its variables.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._inputs = frozenset(program.inputs)
        self._open: dict[Any, list[Instruction]] = {}
        self._touched: dict[Any, tuple[set[int], set[int]]] = {}
        self._loose: list[Instruction] = []
        self.parts: list[JointUpdate | list[Instruction]] = []
        for instruction in program.instructions:
            self._add(instruction)
        for key in list(self._open):
            self._close(key)
        self._end_loose()

    def _add(self, instruction: Instruction) -> None:
        written = set(instruction.updates)
        read = {~number for number in _numbers(instruction.arguments) if number < 0} | {n for _, n in instruction.ref_outputs}
        for key, (others_written, others_read) in list(self._touched.items()):
            if (written | read) & others_written or written & others_read:
                self._close(key)
        key = self._key(instruction)
        if key is None:
            does_something = instruction.ref_outputs or instruction.op.type not in _DOING_NOTHING
            self._loose += [instruction] if does_something else []
            return
        self._open.setdefault(key, []).append(instruction)
        of_group = self._touched.setdefault(key, (set(), set()))
        of_group[0].update(written)
        of_group[1].update(read - written)

    def _key(self, instruction: Instruction) -> Any:
        """What instructions have in common that can be one; None for one that cannot."""
        definition = instruction.op.op_def
        if not definition.by_element or instruction.outputs or instruction.ref_outputs or instruction.random >= 0:
            return None
        slots = [self._program.slots[number] for number in instruction.updates]
        if any(slot.dims is None or None in slot.dims or slot.dims != slots[0].dims for slot in slots):
            return None
        joined = _gradient_places(instruction)
        if any(instruction.arguments[place] < 0 for place in joined):
            return None
        places = range(len(instruction.updates), len(instruction.arguments))
        alike = tuple(self._source(instruction, place) for place in places if place not in joined)
        types = tuple(slot.dtype.name for slot in slots)
        return (definition.name, types, tuple(sorted(instruction.keywords.items())), alike)

    def _source(self, instruction: Instruction, place: int) -> Any:
        """What a hyperparameter comes from: each node may have a constant, or a read of the same variable, of its own."""
        tensor = instruction.op.inputs[place]
        if is_read(tensor.op) and not tensor.op.control_inputs:
            return "read", tensor.op.inputs[0]
        value = None if tensor in self._inputs else constant_value(tensor)
        return instruction.arguments[place] if value is None else ("value", value.dtype.str, value.tobytes())

    def _close(self, key: Any) -> None:
        members = self._open.pop(key)
        del self._touched[key]
        if len(members) < _LEAST:
            self._loose += members
            return
        self._end_loose()
        self.parts.append(JointUpdate(members, self._program))

    def _end_loose(self) -> None:
        if self._loose:
            self.parts.append(self._loose)
            self._loose = []


def _known(dims: Dims) -> tuple[int, ...]:
    return tuple(size for size in dims or () if size is not None)


def _numbers(arguments: Iterable[Any]) -> Iterable[int]:
    for argument in arguments:
        if isinstance(argument, list):
            yield from _numbers(argument)
        elif argument is not None:
            yield argument

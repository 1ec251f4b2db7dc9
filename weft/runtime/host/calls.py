"""Calls: the steps of a host program, each a kernel bound to where its arguments are and where its results go.

A call is made once, when the program is planned, and run by any thread. What the node's declaration says is looked at then and
not again: which arguments are variables, whether the kernel wants an array namespace, which types its results have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.building.run_shapes import RunShapes, run_shapes
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_role import Role
from weft.passes.bodies import static_inputs
from weft.platform.files.file_access import limited_to
from weft.platform.imports.jax_modules import jax, jnp
from weft.platform.process.interrupts import deferred_interrupts
from weft.runtime.host.frame import Frame
from weft.runtime.host.gathering import Gather, gatherer_of
from weft.runtime.program.kernel_errors import check_assigned, uninitialized
from weft.runtime.program.program import Argument, Instruction, Program
from weft.runtime.program.results import as_result, results_of
from weft.runtime.state.host_values import as_numpy
from weft.runtime.state.variable_slot import VariableSlot, held, locks_of
from weft.runtime.state.variable_values import locked_value_of, value_of
from weft.runtime.xla.calls_at_exit import calls_at_exit
from weft.runtime.xla.compiler_options import jit
from weft.runtime.xla.xla_process import start


class Call(Protocol):
    """One step of a host program."""

    op: Operation
    """The node that a failure is blamed on, if it carries none itself."""

    def run(self, values: list[Array], frame: Frame) -> None:
        """Gather arguments from the values, or from variables, and put results there."""
        ...


class Loads:
    """Puts variables' values at their places, for nodes that do nothing else: neighbours are one call.

    Args:
        is_locked: whether runs hold the variables' locks.
    """

    __slots__ = ("_read", "_reads", "op")

    def __init__(self, is_locked: bool) -> None:
        self._reads: list[tuple[Operation, VariableSlot, int]] = []
        self._read = locked_value_of if is_locked else value_of

    def add(self, op: Operation, slot: VariableSlot, place: int) -> None:
        """Read one more variable, for a node."""
        self.op = op
        self._reads.append((op, slot, place))

    def run(self, values: list[Array], frame: Frame) -> None:
        """Read the variables."""
        for op, slot, place in self._reads:
            value = slot.value
            if type(value) is not np.ndarray:
                value = self._read(slot)
                if value is None:
                    raise uninitialized(op, slot.name)
            values[place] = value


def _checked(gather: Gather, shapes: RunShapes, kernel: Callable[..., Array] | None) -> Gather:
    """The gatherer of a node whose inputs' shapes only a run tells; `kernel` is its kernel, if that is pure."""
    check = shapes.check

    def gathered(values: list[Array]) -> Sequence[Array]:
        arguments = gather(values)
        check(arguments, kernel)
        return arguments

    return gathered


class KernelCall:
    """A node without variables to update."""

    __slots__ = ("_gather", "_instruction", "_kernel", "_output", "_shapes", "_wanted", "op")

    def __init__(self, instruction: Instruction, arguments: Sequence[Argument], program: Program, is_locked: bool) -> None:
        self.op = instruction.op
        self._instruction = instruction
        self._gather = gatherer_of(arguments, program, instruction.op, is_locked)
        definition = instruction.op_def
        head = (np,) if definition.takes_xp else ()
        self._kernel: Callable[..., Array] = partial(definition.kernel, *head, **instruction.keywords)
        self._shapes = run_shapes(definition, instruction.op, len(instruction.updates))
        if self._shapes is not None and not instruction.updates:
            is_pure = definition.can_fold and instruction.random < 0
            self._gather = _checked(self._gather, self._shapes, self._kernel if is_pure else None)
        # Most nodes have one result, and most kernels make it as an array of the right type.
        is_single = len(instruction.outputs) == 1
        self._output = instruction.outputs[0] if is_single else -1
        self._wanted = np.dtype(instruction.tensors[0].dtype.as_numpy_dtype) if is_single else None

    def run(self, values: list[Array], frame: Frame) -> None:
        """Call the kernel."""
        made = self._kernel(*self._gather(values))
        if type(made) is np.ndarray and made.dtype is self._wanted:
            values[self._output] = made
        else:
            self._put(made, values)

    def _put(self, made: Array, values: list[Array]) -> None:
        if type(made) is np.ndarray and made.dtype == self._wanted:
            values[self._output] = made
        elif isinstance(made, np.generic) and made.dtype == self._wanted:
            # NumPy's arithmetic makes numbers, and no arrays, of arrays of no dimensions, such as a loop's counter.
            values[self._output] = np.asarray(made)
        else:
            self._store(results_of(made, len(self._instruction.outputs)), values)

    def _store(self, results: Sequence[Array], values: list[Array]) -> None:
        for place, result, tensor in zip(self._instruction.outputs, results, self._instruction.tensors, strict=True):
            values[place] = as_result(result, tensor)


class RandomCall(KernelCall):
    """A random node, which takes of its stream."""

    __slots__ = ()

    def run(self, values: list[Array], frame: Frame) -> None:
        """Call the kernel."""
        self._put(self._kernel(*self._gather(values), take=frame.streams[self._instruction.random].take), values)

    def draw_together(self, rounds: Sequence[list[Array]], frame: Frame) -> bool:
        """Draw for several rounds at once, the same numbers as for one after the other; says whether that was possible."""
        drawn = self._drawn_for(rounds, frame)
        if drawn is None:
            return False
        for number, values in enumerate(rounds):
            values[self._output] = drawn[number, ...]
        return True

    def _drawn_for(self, rounds: Sequence[list[Array]], frame: Frame) -> Array | None:
        draw_many, arguments = self._instruction.op_def.draw_many, self._gather(rounds[0])
        if draw_many is None or not all(_are_the_same(self._gather(values), arguments) for values in rounds):
            return None
        take = frame.streams[self._instruction.random].take
        return draw_many(len(rounds), *arguments, take=take, **self._instruction.keywords)


def _are_the_same(some: Sequence[Array], others: Sequence[Array]) -> bool:
    return all(one is other for one, other in zip(some, others, strict=True))


class HostCall(KernelCall):
    """A host op, which gets a context, and opens the files that its session may."""

    __slots__ = ()

    def run(self, values: list[Array], frame: Frame) -> None:
        """Call the kernel, which may block."""
        assert frame.context is not None
        context = frame.context(self.op)
        if frame.file_access is None:
            made = self._kernel(context, *self._gather(values))
        else:
            with limited_to(frame.file_access):
                made = self._kernel(context, *self._gather(values))
        self._put(made, values)


class RandomHostCall(KernelCall):
    """A random host op, which takes of its stream."""

    __slots__ = ()

    def run(self, values: list[Array], frame: Frame) -> None:
        """Call the kernel, which may block."""
        assert frame.context is not None
        take = frame.streams[self._instruction.random].take
        with limited_to(frame.file_access):
            made = self._kernel(frame.context(self.op), *self._gather(values), take=take)
        self._store(results_of(made, len(self._instruction.outputs)), values)


class LoneCall(KernelCall):
    """A node that only JAX can do, by itself: in a loop's body, or in a large stage that is not compiled yet."""

    __slots__ = ("_code", "_is_whole")

    def __init__(self, instruction: Instruction, arguments: Sequence[Argument], program: Program, is_locked: bool) -> None:
        super().__init__(instruction, arguments, program, is_locked)
        self._is_whole = instruction.random < 0 and static_inputs(instruction.op) == []
        self._code: Callable[..., Array] | None = None

    def run(self, values: list[Array], frame: Frame) -> None:
        """Call the kernel on JAX's arrays; starts XLA."""
        instruction = self._instruction
        start()
        arguments = self._gather(values)
        if instruction.op_def.check is not None:
            # The kernel itself cannot refuse values.
            instruction.op_def.check(instruction.op, *arguments)
        with calls_at_exit, jax.enable_x64(True):
            if self._is_whole:
                # Piece by piece, as JAX computes without it, such nodes took half as long again, first and later.
                self._code = self._code or jit(self._lone(frame))
                made = self._code(*arguments)
            else:
                made = self._lone(frame)(*arguments)
            results = [np.asarray(result) for result in results_of(made, len(instruction.outputs))]
        self._store(results, values)

    def _lone(self, frame: Frame) -> Callable[..., Array]:
        instruction, keywords = self._instruction, self._instruction.keywords
        if instruction.random >= 0:
            keywords = {**keywords, "take": frame.streams[instruction.random].take}
        head = (jnp,) if instruction.op_def.takes_xp else ()
        return partial(instruction.op_def.kernel, *head, **keywords)


class Update(KernelCall):
    """A node that gives variables new values, in a run that holds the variables' locks."""

    __slots__ = ("_slots",)

    def __init__(self, instruction: Instruction, arguments: Sequence[Argument], program: Program, is_locked: bool) -> None:
        super().__init__(instruction, arguments[len(instruction.updates) :], program, is_locked)
        self._slots = [program.slots[number] for number in instruction.updates]

    def run(self, values: list[Array], frame: Frame) -> None:
        """Update the variables."""
        slots, instruction = self._slots, self._instruction
        old = [slot.value for slot in slots]
        for place, value in enumerate(old):
            if type(value) is not np.ndarray:
                old[place] = self._in_host_memory(value, slots[place].name)
        others = self._gather(values)
        if self._shapes is not None:
            self._check(old, others)
        if instruction.op_def.is_host:
            assert frame.context is not None
            with limited_to(frame.file_access):
                made = self._kernel(frame.context(self.op), *old, *others)
        else:
            made = self._kernel(*old, *others)
        results = made if type(made) is tuple else results_of(made, len(slots))
        if instruction.op_def.role is Role.ASSIGNMENT:
            check_assigned(self.op, old[0], results[0])
        for slot, value in zip(slots, results, strict=False):
            slot.put(np.asarray(value))
        if instruction.outputs:
            self._store(results[len(slots) :], values)

    def _check(self, old: Sequence[Array], others: Sequence[Array]) -> None:
        """Raise what the kernel, or else the shape rule, says of inputs that the node does not take."""
        assert self._shapes is not None

        def refuse(*others: Array) -> None:
            # On copies, since updates of rows change arrays in place.
            self._kernel(*[each.copy() if isinstance(each, np.ndarray) else each for each in old], *others)

        self._shapes.check(others, None if self._instruction.op_def.is_host else refuse)

    def _in_host_memory(self, value: Array, slot_name: str) -> Array:
        if value is not None:
            return as_numpy(value)
        if not self._instruction.op_def.allows_uninitialized:
            raise uninitialized(self.op, slot_name)
        return None


class LockingUpdate(Update):
    """A node that gives variables new values, and holds their locks from reading the old ones to setting those."""

    __slots__ = ("_locks",)

    def __init__(self, instruction: Instruction, arguments: Sequence[Argument], program: Program, is_locked: bool) -> None:
        super().__init__(instruction, arguments, program, is_locked)
        self._locks = locks_of(self._slots)

    def run(self, values: list[Array], frame: Frame) -> None:
        """Update the variables."""
        with deferred_interrupts(), held(self._locks):
            super().run(values, frame)


class RowUpdate(Update):
    """A node that updates rows of variables whose locks the run holds: in place, where nobody else has the arrays.

    `looks_ahead_in` gives it a place for what can be known of the update without the variables, so that they are locked for
    less time.
    """

    __slots__ = ("_ahead_place",)

    def __init__(self, instruction: Instruction, arguments: Sequence[Argument], program: Program, is_locked: bool) -> None:
        super().__init__(instruction, arguments, program, is_locked)
        self._ahead_place = -1

    def looks_ahead_in(self, place: int) -> None:
        """Where `look_ahead` puts what it finds."""
        self._ahead_place = place

    def look_ahead(self, values: list[Array]) -> None:
        """Work out what can be known without the variables."""
        assert self._instruction.op_def.ahead is not None
        # A failure is for the kernel to tell of, which finds the same.
        with contextlib.suppress(Exception):
            values[self._ahead_place] = self._instruction.op_def.ahead(*self._gather(values))

    def run(self, values: list[Array], frame: Frame) -> None:
        """Update the rows."""
        others = self._gather(values)
        ahead = {} if self._ahead_place < 0 else {"ahead": values[self._ahead_place]}
        try:
            old = [slot.take() for slot in self._slots]
            for slot, value in zip(self._slots, old, strict=True):
                if value is None:
                    raise uninitialized(self.op, slot.name)
            if self._shapes is not None:
                self._check(old, others)
            made = self._kernel(*old, *others, **ahead)
            for slot, value in zip(self._slots, made if type(made) is tuple else (made,), strict=False):
                slot.put(np.asarray(value))
        finally:
            for slot in self._slots:
                slot.put_back()


def call_of(instruction: Instruction, arguments: Sequence[Argument], program: Program, is_locked: bool) -> KernelCall:
    """The call of a node without bodies."""
    return _kind_of(instruction, is_locked)(instruction, arguments, program, is_locked)


def _kind_of(instruction: Instruction, is_locked: bool) -> type[KernelCall]:
    definition = instruction.op_def
    if instruction.updates:
        if not is_locked:
            return LockingUpdate
        return RowUpdate if definition.by_row else Update
    if definition.is_host:
        return HostCall if instruction.random < 0 else RandomHostCall
    if definition.compiled_only:
        return LoneCall
    return KernelCall if instruction.random < 0 else RandomCall

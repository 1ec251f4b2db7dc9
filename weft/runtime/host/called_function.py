"""CalledFunction: a function of the graph's library as a kernel calls it, on whatever thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import resource
from weft.passes.awaited import may_wait, only_looks
from weft.passes.bodies import body_nodes
from weft.runtime.compiled.stoppable import has_loops
from weft.runtime.host.frame import Frame
from weft.runtime.host.host_program import HostProgram
from weft.runtime.program.program import Instruction, Program
from weft.runtime.program.program_builder import build_program
from weft.runtime.state.binder import Binder
from weft.runtime.state.function_plan import BoundFunction, FunctionCaller
from weft.runtime.state.session_state import SessionState
from weft.runtime.state.variable_slot import VariableSlot


class CalledFunction:
    """A function with its captured values, ready to be called.

    Args:
        name: its name in the library.
        plan: the function's nodes as a host program.
        randoms: its random nodes.
        captured: the values of its last arguments, those that stand for variables left out.
        may_wait, has_loops, is_pure: see `weft.framework.building.op_context.CalledFunction`.
    """

    __slots__ = ("_captured", "_name", "_plan", "_randoms", "has_loops", "is_pure", "may_wait")

    def __init__(
        self,
        name: str,
        plan: HostProgram,
        randoms: Sequence[Operation],
        captured: Sequence[Array],
        may_wait: bool,
        has_loops: bool,
        is_pure: bool,
    ) -> None:
        self._name = name
        self._plan = plan
        self._randoms = randoms
        self._captured = list(captured)
        self.may_wait = may_wait
        self.has_loops = has_loops
        self.is_pure = is_pure

    def __call__(self, arguments: Sequence[Array], caller: FunctionCaller) -> list[Array]:
        """Run it on its own arguments; see `weft.framework.building.op_context.CalledFunction`."""
        return self._plan.run([*arguments, *self._captured], self._frame(caller))

    def each(self, arguments_of: Sequence[Sequence[Array]], caller: FunctionCaller) -> list[list[Array] | OpError]:
        """Run several calls side by side."""
        captured = self._captured
        return self._plan.run_each([[*arguments, *captured] for arguments in arguments_of], self._frame(caller))

    def _frame(self, caller: FunctionCaller) -> Frame:
        streams = caller.streams.of(self._randoms, self._name) if self._randoms else ()
        return Frame(streams, caller.context, caller.compiles_loops, caller.file_access)


class _Planned(NamedTuple):
    """The FunctionPlan of a function; see CalledFunction."""

    name: str
    plan: HostProgram
    randoms: Sequence[Operation]
    may_wait: bool
    has_loops: bool
    is_pure: bool

    def bound(self, captured: Sequence[Array]) -> CalledFunction:
        """The function with its captured values."""
        return CalledFunction(self.name, self.plan, self.randoms, captured, self.may_wait, self.has_loops, self.is_pure)


def called_function(op: Operation, attr: str, captured: str, values: Sequence[Array], session: SessionState) -> BoundFunction:
    """The function that a node's attribute names; see `OpContext.function`.

    Its plan is kept with the session: a dataset in a function of another is made anew for each of that one's elements.
    """
    function: FuncGraph = op.graph.get_function(op.attrs[attr])
    bind = Binder(session.resources)
    slots = tuple(_slot(*each, bind) for each in zip(_members(op, captured), values, strict=True))
    plan = session.plans.get((function, slots))
    if plan is None:
        plan = session.plans[function, slots] = _planned(function, slots, bind)
    plain = [value for value, slot in zip(values, slots, strict=True) if slot is None]
    return plan.bound(plain)


def _members(op: Operation, name: str) -> list[Tensor]:
    if not name:
        return []
    for arg, members in group(op.op_def.inputs, op.attrs, op.inputs):
        if arg.name == name and isinstance(members, list):
            return members
    raise KeyError(f"{op.type} {op.name!r} has no list input {name!r}")


def _slot(tensor: Tensor, value: Array, bind: Binder) -> VariableSlot | None:
    """The variable that the function reads when it runs; None for a value, such as that of another task's variable."""
    slot = bind(tensor) if tensor.dtype is resource or tensor.dtype.is_ref else None
    return None if slot is None or (slot.value is None and value is not None) else slot


def _planned(function: FuncGraph, slots: Sequence[VariableSlot | None], bind: Binder) -> _Planned:
    own = len(function.inputs) - len(slots)
    behind = dict(zip(function.inputs[own:], slots, strict=True))
    inputs = [tensor for tensor in function.inputs if behind.get(tensor) is None]
    program = build_program(body_nodes(function), inputs, function.outputs, bind.inside(behind))
    ops = list(_instructions(program))
    waits = any(may_wait(each.op) for each in ops)
    is_pure = not waits and all(map(_is_pure, ops))
    return _Planned(function.name, HostProgram(program), program.random_nodes, waits, has_loops(program), is_pure)


def _instructions(program: Program) -> Iterator[Instruction]:
    """The program's, and those of the bodies in it."""
    for each in program.instructions:
        yield each
        for body in () if each.control_flow is None else each.control_flow.bodies:
            yield from _instructions(body.program)


def _is_pure(each: Instruction) -> bool:
    """Whether a node leaves all that others see as it is, variables too."""
    return not each.updates and only_looks(each.op)

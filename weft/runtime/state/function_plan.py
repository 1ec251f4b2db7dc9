"""FunctionPlan: a function of a graph's library as a session keeps it, planned once for all who call it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.graphs.func_graph import FuncGraph
from weft.framework.nodes.operation import Operation
from weft.platform.files.file_access import FileAccess
from weft.runtime.state.random_streams import RandomStreams
from weft.runtime.state.variable_slot import VariableSlot

PlanKey: TypeAlias = tuple[FuncGraph, tuple[VariableSlot | None, ...]]
"""The function, and the variables that its last arguments stand for; None for an argument that is a value."""


class StepView(Protocol):
    """What a host program itself needs of a node's OpContext."""

    def raise_if_cancelled(self) -> None:
        """Raise the step's error when it has one."""
        ...


class FunctionCaller(Protocol):
    """What a call of a function needs of the one who calls."""

    streams: RandomStreams
    compiles_loops: bool

    @property
    def file_access(self) -> FileAccess | None:
        """What files are open to it."""
        ...

    @property
    def context(self) -> Callable[[Operation], StepView]:
        """Makes the contexts of the function's host nodes."""
        ...


class BoundFunction(Protocol):
    """A function of its own arguments, and of the one who calls."""

    @property
    def may_wait(self) -> bool:
        """Whether a call may do more than compute; see `weft.framework.building.op_context.CalledFunction`."""
        ...

    @property
    def has_loops(self) -> bool:
        """Whether a call runs loops."""
        ...

    @property
    def is_pure(self) -> bool:
        """Whether calls may run side by side."""
        ...

    def each(self, arguments_of: Sequence[Sequence[Array]], caller: FunctionCaller) -> list[list[Array] | OpError]:
        """Run several calls side by side."""
        ...

    def __call__(self, arguments: Sequence[Array], caller: FunctionCaller) -> list[Array]:
        """Run it."""
        ...


class FunctionPlan(Protocol):
    """A function's nodes, ready to run from any thread."""

    def bound(self, captured: Sequence[Array]) -> BoundFunction:
        """The function with the values of its last arguments, those that stand for variables left out."""
        ...

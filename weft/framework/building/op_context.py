"""OpContext: what a host op's kernel may use besides its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Operation
from weft.platform.files.file_access import FileAccess

T = TypeVar("T")


class DeviceMemory(NamedTuple):
    """The memory of a device in bytes: what is in use now, the most that was, and what there is."""

    in_use: int
    peak: int
    limit: int


class KeptTensors(Protocol):
    """The values that a session keeps on a task between its runs, by handle."""

    def keep(self, value: object, node_name: str, device: str) -> str:
        """Keep an array, which nobody changes from now on; returns its handle."""
        ...

    def find(self, handle: str) -> Any:
        """The value of a handle; InvalidArgumentError when there is none."""
        ...

    def drop(self, handle: str) -> None:
        """Forget a value; InvalidArgumentError when there is none."""
        ...


class StepOwner(Protocol):
    """The session that a step belongs to."""

    @property
    def name(self) -> str:
        """The session's name in the cluster; it begins with the task of its master, up to a '#'."""
        ...

    @property
    def is_closed(self) -> bool:
        """Whether the session has ended."""
        ...

    @property
    def is_away(self) -> bool:
        """Whether nobody can run steps in the session now: it has ended, or its master's process is dead or cut off."""
        ...


class Caller(Protocol):
    """On whose behalf functions run and threads wait: a step, or something that goes on between steps, such as an iterator."""

    @property
    def file_access(self) -> FileAccess | None:
        """What files are open to it; a thread that works for it has to be `limited_to` this."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called once at its end; returns a function that withdraws it. See `OpContext.on_cancel`."""
        ...

    def raise_if_cancelled(self) -> None:
        """Raise its error when it has ended with one."""
        ...

    def apart(self) -> Caller:
        """A caller that outlives this one's step, until it is cancelled."""
        ...

    def cancel(self, error: OpError) -> None:
        """End it; for a caller that stands apart."""
        ...


class CalledFunction(Protocol):
    """A function of the graph's library, with what it captured. Safe from any thread."""

    @property
    def may_wait(self) -> bool:
        """Whether a call may wait: for a file, a queue or the like, or in code of the program; else it only computes."""
        ...

    @property
    def has_loops(self) -> bool:
        """Whether a call runs loops, which may have no end."""
        ...

    @property
    def is_pure(self) -> bool:
        """Whether nobody can tell calls side by side from calls one after the other: none sees what another has done."""
        ...

    def each(self, arguments_of: Sequence[Sequence[Array]], caller: Caller) -> list[list[Array] | OpError]:
        """The results of several calls side by side, or their errors, for each call's arguments."""
        ...

    def __call__(self, arguments: Sequence[Array], caller: Caller) -> list[Array]:
        """The function's results for its own arguments, as arrays in host memory; OpError when a node in it fails."""
        ...


class Parked(BaseException):
    """Raised by a kernel that does not wait on its thread: the node runs anew, by its `Parking`. No error."""


class Parking(Protocol):
    """Where the kernel of an op that `parks` leaves what it cannot do at once, rather than have its thread wait."""

    request: Any
    """What the kernel has asked for when it ran before; None the first time."""
    resource: Any
    """What the node's handle names, also when it has been dropped meanwhile."""

    def keep(self, request: object) -> Parked:
        """Keep the request; returns what the kernel is to raise at once, having changed nothing else.

        The caller holds the lock under which `resume` is called.
        """
        ...

    def pass_on(self) -> Parked:
        """Have the node run anew on a thread that may wait, without a parking; returns what the kernel is to raise at once."""
        ...

    def resume(self) -> None:
        """Have the node run anew: its request is served, has failed or should look again. Neither runs it now nor blocks."""
        ...


class OpContext(Protocol):
    """The step and the task in which a host kernel runs. Made anew for each node and step; not to be kept."""

    node_name: str
    """The node's name."""
    op: Operation
    """The node itself, for messages."""
    attrs: Mapping[str, Any]
    """The node's attributes, those that are no kernel parameter included."""
    device: str
    """The full name of the device that the node is on."""
    step_id: int
    """The step's number."""
    parking: Parking | None
    """Where a kernel of an op that `parks` leaves what it cannot do at once; None where it has to wait on its thread."""

    @property
    def session(self) -> StepOwner:
        """The session that the step belongs to."""
        ...

    @property
    def session_tensors(self) -> KeptTensors:
        """The tensors that the session keeps on this task between its runs."""
        ...

    def find_or_create(self, kind: type[T], make: Callable[[], T]) -> T:
        """The task's resource of this class under the node's (container, shared_name or node name); made when missing.

        Of a class decorated by `unshared`, nodes without a shared_name have one in each session, which drops it at its end.
        Two threads get the same object. InvalidArgumentError when that name holds a resource of another class.
        """
        ...

    def find(self, kind: type[T], handle: object) -> T:
        """The resource that a handle made by `handle_for` names; NotFoundError when it is gone."""
        ...

    def handle_for(self, kind: type) -> Any:
        """A handle (bytes) of the node's own resource, to be passed along edges of dtype resource or as a string pair."""
        ...

    def slot(self, argument: str) -> Any:
        """The variable slot behind a Ref or resource input, with `.value` and `.update(function)`."""
        ...

    def function(self, attr: str, captured: str, values: Sequence[Array]) -> CalledFunction:
        """A function that an attribute among the op's `calls` names.

        Args:
            attr: the attribute.
            captured: the list input with what the function captured, its last arguments; empty for none.
            values: the values of that input.
        """
        ...

    def caller(self, like: Caller | None = None) -> Caller:
        """The step as a caller of functions; the random nodes in these go on as they do for `like`."""
        ...

    def run_node(self, op: Operation) -> list[Array]:
        """Run a node of an EagerGraph on its inputs' values; returns those of its outputs, None for a variable's handle."""
        ...

    def drop_container(self, container: str) -> None:
        """Drop the state that the nodes of an EagerGraph made in its container."""
        ...

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called once when the step or session is cancelled or times out (at once when it was already).

        Returns a function that withdraws it. A kernel that blocks must register one that wakes it up, and then call
        `raise_if_cancelled`.
        """
        ...

    def memory(self) -> DeviceMemory:
        """The memory of the device that the node is on."""
        ...

    def raise_if_cancelled(self) -> None:
        """Raise the step's error (CancelledError, DeadlineExceededError ...) when it has one."""
        ...

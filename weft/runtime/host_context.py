"""HostContext: the OpContext that host kernels get in this runtime."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import DeviceMemory, Parking
from weft.framework.nodes.node_types import group
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.unshared import is_unshared
from weft.platform.files.file_access import FileAccess
from weft.runtime.cancellation import Cancellation
from weft.runtime.host.called_function import called_function
from weft.runtime.host.eager_node import EAGER_STATE, drop_container, run_node
from weft.runtime.host_permits import Permit
from weft.runtime.state.binder import Binder
from weft.runtime.state.function_plan import BoundFunction
from weft.runtime.state.random_streams import RandomStreams
from weft.runtime.state.session_state import SessionState
from weft.runtime.state.session_tensors import SessionTensors
from weft.runtime.state.variable_slot import VariableSlot
from weft.runtime.xla.memory_use import memory_of

T = TypeVar("T")


class HostContext:
    """One node's view of its step, session and task; see `weft.framework.building.op_context.OpContext`."""

    __slots__ = ("_cancellation", "_op", "_permit", "_session", "device", "parking", "step_id")

    def __init__(
        self,
        op: Operation,
        device: str,
        step_id: int,
        session: SessionState,
        cancellation: Cancellation,
        permit: Permit | None = None,
        parking: Parking | None = None,
    ) -> None:
        self._op = op
        self._session = session
        self._cancellation = cancellation
        self._permit = permit
        self.device = device
        self.step_id = step_id
        self.parking = parking

    @property
    def node_name(self) -> str:
        """The node's name."""
        return self._op.name

    @property
    def op(self) -> Operation:
        """The node."""
        return self._op

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The node's attributes."""
        return self._op.attrs

    @property
    def session_tensors(self) -> SessionTensors:
        """The tensors that the session keeps here between its runs."""
        return self._session.tensors

    @property
    def session(self) -> SessionState:
        """Whose step it is."""
        return self._session

    def _place(self, kind: type[object]) -> tuple[str, str, str]:
        """The node's container, the name of what it has there, and the session that alone has it, "" for all of them."""
        attrs = self._op.attrs
        container = attrs.get("container", "")
        name = attrs.get("shared_name")
        if name:
            return container, name, ""
        owner = "" if attrs.get("use_node_name_sharing") or not is_unshared(kind) else self._session.name
        return container, f"{self._op.name}@{owner}" if owner else self._op.name, owner

    def find_or_create(self, kind: type[T], make: Callable[[], T]) -> T:
        """The resource of this class under the node's container and name; made when missing."""
        container, name, owner = self._place(kind)
        return self._session.resources.find_or_create(container, kind, name, make, owner)

    def handle_for(self, kind: type[object]) -> Any:
        """The handle of the node's own resource: container, class and name, as text."""
        container, name, _ = self._place(kind)
        return f"{container}\0{kind.__name__}\0{name}".encode()

    def find(self, kind: type[T], handle: Any) -> T:
        """The resource that a handle names."""
        parking = self.parking
        if parking is not None and isinstance(parking.resource, kind):
            # Also one that has been dropped meanwhile: the request that waits at it tells how that ends.
            return parking.resource
        container, name = _named_by(handle.item() if hasattr(handle, "item") else handle)
        found = self._session.resources.find(container, kind, name)
        if parking is not None:
            parking.resource = found
        return found

    def function(self, attr: str, captured: str, values: Sequence[Array]) -> BoundFunction:
        """A function that an attribute names, with what it captured."""
        return called_function(self._op, attr, captured, values, self._session)

    def caller(self, like: object = None) -> HostCaller:
        """The step as a caller of functions."""
        streams = like.streams if isinstance(like, HostCaller) else RandomStreams()
        return HostCaller(self._session, self._cancellation, streams, self.device, self.step_id)

    def run_node(self, op: Operation) -> list[Array]:
        """Run a node of an EagerGraph; see `weft.runtime.host.eager_node`."""
        return run_node(op, self._context_of)

    def drop_container(self, container: str) -> None:
        """Drop the state that nodes of an EagerGraph made."""
        drop_container(container)

    def _context_of(self, op: Operation) -> HostContext:
        return HostContext(op, self.device, self.step_id, EAGER_STATE, self._cancellation)

    def slot(self, argument: str) -> VariableSlot:
        """The variable slot behind a Ref or resource input."""
        bind = Binder(self._session.resources)
        for arg, members in group(self._op.op_def.inputs, self._op.attrs, self._op.inputs):
            if arg.name == argument:
                slot = bind(members)
                if slot is not None:
                    return slot
        raise KeyError(f"{self._op.type} {self._op.name!r} has no variable input {argument!r}")

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called once when the step is cancelled; returns a function that withdraws it.

        A kernel that asks for it is about to wait, so it no longer counts as one that runs.
        """
        if self._permit is not None:
            self._permit.give_back()
        return self._cancellation.on_cancel(callback, f"{self._op.name} ({self._op.type})")

    def memory(self) -> DeviceMemory:
        """The memory of the node's device."""
        return memory_of(self.device)

    def raise_if_cancelled(self) -> None:
        """Raise the step's error when it has one."""
        self._cancellation.raise_if_cancelled()


@functools.lru_cache(maxsize=1024)
def _named_by(handle: bytes) -> tuple[str, str]:
    """The container and the name of the resource that a handle names."""
    container, _, name = bytes(handle).decode().split("\0")
    return container, name


class HostCaller:
    """On whose behalf kernels call functions; see `weft.framework.building.op_context.Caller`."""

    __slots__ = ("_cancellation", "_device", "_session", "_step_id", "compiles_loops", "streams")

    def __init__(
        self, session: SessionState, cancellation: Cancellation, streams: RandomStreams, device: str, step_id: int
    ) -> None:
        self._session = session
        self._cancellation = cancellation
        self._device = device
        self._step_id = step_id
        self.streams = streams
        self.compiles_loops = not session.never_compile

    @property
    def file_access(self) -> FileAccess | None:
        """What files are open to it."""
        return self._session.file_access

    def context(self, op: Operation) -> HostContext:
        """The context of a node in a function."""
        return HostContext(op, self._device, self._step_id, self._session, self._cancellation)

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called once at its end; returns a function that withdraws it."""
        return self._cancellation.on_cancel(callback)

    def raise_if_cancelled(self) -> None:
        """Raise its error when it has ended with one."""
        self._cancellation.raise_if_cancelled()

    def apart(self) -> HostCaller:
        """A caller that goes on when this one's step has ended."""
        return HostCaller(self._session, Cancellation(), self.streams, self._device, self._step_id)

    def cancel(self, error: OpError) -> None:
        """End it."""
        self._cancellation.cancel(error)

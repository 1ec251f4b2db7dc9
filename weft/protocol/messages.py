"""The messages of the tensor channel, as plain data.

Tensors are NumPy arrays (object arrays of `bytes` for strings). A message owns nothing: whoever makes one keeps its
arrays unchanged until it is sent, and whoever receives one may keep the arrays, which then are its own.

Each class's fields are its wire format, in order: `tensor_frame` derives the codec from them, so a field may only be
added together with a new protocol version. Messages that carry tensors compare by identity, since arrays have no single
truth value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

import numpy.typing as npt

PROTOCOL_VERSION: Final = 2

Array: TypeAlias = npt.NDArray[Any]

_OBJECT_BYTES: Final = 64


def size_of(arrays: Iterable[Array]) -> int:
    """How many bytes arrays hold, those of strings with their characters."""
    size_bytes = 0
    for array in arrays:
        size_bytes += array.nbytes
        if array.dtype.hasobject:
            strings = (item for item in array.ravel().tolist() if isinstance(item, bytes))
            size_bytes += sum(map(len, strings), array.size * _OBJECT_BYTES)
    return size_bytes


class MessageKind:
    """The facts that hold for all messages of one class."""

    __slots__ = ()

    may_be_lent: ClassVar[bool] = False
    """Whether large tensors may travel in memory that both tasks of one host see: the receiver is a task, and gives it back."""


@dataclass(frozen=True, slots=True)
class Hello(MessageKind):
    """Dialer -> listener, first on every connection: who calls, with what permission, and whom it believes to reach."""

    protocol_version: int
    sender: str  # a task name such as "/job:ps/replica:0/task:0", or "" for a client
    incarnation: int
    token: bytes = field(repr=False)
    target: str  # a task name, or "" when any task will do


@dataclass(frozen=True, slots=True)
class Welcome(MessageKind):
    """Listener -> dialer: the connection is admitted."""

    receiver: str
    incarnation: int


@dataclass(frozen=True, slots=True)
class Reject(MessageKind):
    """Listener -> dialer: the connection is refused and will be closed."""

    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class RunGraph(MessageKind):
    """Master -> worker: start a step of a registered graph; `context` is where the step stands in a trace, or empty."""

    may_be_lent: ClassVar[bool] = True

    step_id: int
    graph_handle: str
    feeds: tuple[Array, ...]
    trace_level: int
    context: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class Push(MessageKind):
    """Worker -> worker: all that one stage produced for one peer.

    `edges[i]` is the plan's number of the cross-task edge that `tensors[i]` travels on. `dead` lists the edges that
    carry no value in this step, because a Switch upstream took the other branch.
    """

    may_be_lent: ClassVar[bool] = True

    step_id: int
    edges: tuple[int, ...]
    tensors: tuple[Array, ...]
    dead: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.tensors):
            found = f"{len(self.edges)} edges for {len(self.tensors)} tensors"
            raise ValueError(f"a Push of step {self.step_id} has {found}")


@dataclass(frozen=True, slots=True, eq=False)
class StepDone(MessageKind):
    """Worker -> master: this task's part of the step is over; `trace` is a serialized StepStats or empty."""

    step_id: int
    fetches: tuple[Array, ...]
    trace: bytes


@dataclass(frozen=True, slots=True)
class StepFailed(MessageKind):
    """Worker -> master: this task's part of the step failed, with a status code, at a node. `payload` may be empty."""

    step_id: int
    code: int
    message: str
    node_name: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class Abort(MessageKind):
    """Master -> worker: give the step up, another task failed or the caller cancelled it."""

    step_id: int
    code: int
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class RunCallable(MessageKind):
    """Client -> master: run a prepared (fetches, feeds) signature.

    `options` is a serialized RunOptions or empty; `context` is where the call stands in a trace, or empty.
    """

    call_id: int
    session_handle: str
    callable_id: int
    feeds: tuple[Array, ...]
    options: bytes
    context: bytes = b""


@dataclass(frozen=True, slots=True, eq=False)
class CallDone(MessageKind):
    """Master -> client: the call's results; `metadata` is a serialized RunMetadata or empty."""

    call_id: int
    fetches: tuple[Array, ...]
    metadata: bytes


@dataclass(frozen=True, slots=True)
class CallFailed(MessageKind):
    """Master -> client: the call failed with a status code, at a node when `node_name` is not empty."""

    call_id: int
    code: int
    message: str
    node_name: str


@dataclass(frozen=True, slots=True)
class CancelCall(MessageKind):
    """Client -> master: nobody waits for this call any more."""

    call_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Ping(MessageKind):
    """Either way: prove that you are alive. Answered by a Pong with the same nonce."""

    nonce: int


@dataclass(frozen=True, slots=True)
class Pong(MessageKind):
    """The answer to a Ping."""

    nonce: int


@dataclass(frozen=True, slots=True)
class Goodbye(MessageKind):
    """Either way, last on a connection: the sender closes it on purpose."""

    reason: str


Message: TypeAlias = (
    Hello
    | Welcome
    | Reject
    | RunGraph
    | Push
    | StepDone
    | StepFailed
    | Abort
    | RunCallable
    | CallDone
    | CallFailed
    | CancelCall
    | Ping
    | Pong
    | Goodbye
)

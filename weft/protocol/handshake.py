"""The admission of a connection: a Hello, then a Welcome or a Reject.

Both sides are one-shot state machines; `_MOVES` lists every legal move of either. The listening side checks the
protocol version, that the dialer means this task, and its permission, in this order, so that a mistaken address is told
as such. The dialing side checks that the task that answers is the one it meant.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from weft.protocol.messages import PROTOCOL_VERSION, Hello, Message, Reject, Welcome
from weft.protocol.protocol_error import LocalProtocolError

MAX_HELLO_BYTES: Final = 64 << 10
"""The largest header accepted from a peer that is not admitted yet; it may send no payload at all."""


class State(enum.Enum):
    """The states of one side of an admission."""

    IDLE = enum.auto()
    AWAIT_HELLO = enum.auto()
    AWAIT_VERDICT = enum.auto()
    ADMITTED = enum.auto()
    REFUSED = enum.auto()


class _Event(enum.Enum):
    START = enum.auto()
    ACCEPT = enum.auto()
    REFUSE = enum.auto()


_MOVES: Final = {
    (State.IDLE, _Event.START): State.AWAIT_VERDICT,
    (State.AWAIT_HELLO, _Event.ACCEPT): State.ADMITTED,
    (State.AWAIT_HELLO, _Event.REFUSE): State.REFUSED,
    (State.AWAIT_VERDICT, _Event.ACCEPT): State.ADMITTED,
    (State.AWAIT_VERDICT, _Event.REFUSE): State.REFUSED,
}


@dataclass(frozen=True, slots=True)
class Send:
    """Send this message to the peer."""

    message: Message


@dataclass(frozen=True, slots=True)
class Admit:
    """The connection is admitted; `peer` is the message in which the other side named itself."""

    peer: Hello | Welcome


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection, for this reason."""

    reason: str


Instruction: TypeAlias = Send | Admit | Close


class _Side:
    """The part that both sides share: the state and its moves."""

    def __init__(self, state: State) -> None:
        self.state = state

    def _move(self, event: _Event) -> None:
        after = _MOVES.get((self.state, event))
        if after is None:
            raise LocalProtocolError(f"an admission in state {self.state.name} cannot {event.name}")
        self.state = after

    def timed_out(self, waited_s: float) -> list[Instruction]:
        """Take note that the peer said nothing for too long."""
        awaited = "Hello" if self.state is State.AWAIT_HELLO else "answer to the Hello"
        self._move(_Event.REFUSE)
        return [Close(f"no {awaited} within {waited_s:g} s")]


class Acceptor(_Side):
    """The listening side of one connection. `receiver` is this task's name, `has_permission` judges the token."""

    def __init__(self, receiver: str, incarnation: int, has_permission: Callable[[Hello], bool]) -> None:
        super().__init__(State.AWAIT_HELLO)
        self._welcome = Welcome(receiver, incarnation)
        self._has_permission = has_permission

    def receive(self, message: Message) -> list[Instruction]:
        """Take the peer's first message."""
        reason = self._objection(message)
        if reason:
            self._move(_Event.REFUSE)
            return [Send(Reject(reason)), Close(reason)]
        assert isinstance(message, Hello)
        self._move(_Event.ACCEPT)
        return [Send(self._welcome), Admit(message)]

    def _objection(self, message: Message) -> str:
        if not isinstance(message, Hello):
            return f"a connection starts with a Hello, not with a {type(message).__name__}"
        if message.protocol_version != PROTOCOL_VERSION:
            return f"the dialer speaks protocol version {message.protocol_version}, this task {PROTOCOL_VERSION}"
        if message.target not in ("", self._welcome.receiver):
            return f"this is {self._welcome.receiver}, the dialer means {message.target}: check the cluster's addresses"
        if not self._has_permission(message):
            return "the dialer's token is not this task's"
        return ""


class Dialer(_Side):
    """The dialing side of one connection."""

    def __init__(self, hello: Hello) -> None:
        super().__init__(State.IDLE)
        self._hello = hello

    def start(self) -> list[Instruction]:
        """Say hello: the dialing side speaks first."""
        self._move(_Event.START)
        return [Send(self._hello)]

    def receive(self, message: Message) -> list[Instruction]:
        """Take the listener's verdict."""
        match message:
            case Welcome(receiver=receiver) if self._hello.target in ("", receiver):
                self._move(_Event.ACCEPT)
                return [Admit(message)]
            case Welcome(receiver=receiver):
                reason = f"{receiver} answers, not {self._hello.target}"
            case Reject(reason=refused):
                reason = f"refused: {refused}"
            case _:
                reason = f"a {type(message).__name__} came instead of a verdict"
        self._move(_Event.REFUSE)
        return [Close(reason)]

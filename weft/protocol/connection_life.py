"""The life of a connection, from its first byte to the release of what it holds, and why it ends, which is settled once.

    OPEN      messages pass
    CLOSING   this side has said goodbye, sends what is queued, handles no message any more, and waits for the peer's end
    LOST      nothing passes: the cause is settled, and every thread that waits for the transport is on its way out
    CLOSED    its descriptors are given back and its owner knows

`_MOVES` lists every legal move; an event that comes too late, such as a second loss, is no mistake and changes nothing.
"""

from __future__ import annotations

import enum
from typing import Final, TypeAlias

from weft.protocol.protocol_error import LocalProtocolError


class LifeState(enum.Enum):
    """The states of a connection."""

    OPEN = enum.auto()
    CLOSING = enum.auto()
    LOST = enum.auto()
    CLOSED = enum.auto()


class _Event(enum.Enum):
    CLOSE = enum.auto()
    LOSE = enum.auto()
    RELEASE = enum.auto()


class LifeStep(enum.Enum):
    """The instructions to the connection."""

    SAY_GOODBYE = enum.auto()
    """Send what is queued, then a goodbye, then the end of the stream; lose the connection if that takes too long."""
    SHUT_DOWN = enum.auto()
    """End the transport in both directions, and let nobody read it any more."""
    TELL_OWNER = enum.auto()
    """Give everything back, and tell the owner the cause."""


_Move: TypeAlias = tuple[LifeState, tuple[LifeStep, ...]]
_OPEN, _CLOSING, _LOST, _CLOSED = LifeState

_MOVES: Final[dict[tuple[LifeState, _Event], _Move]] = {
    (_OPEN, _Event.CLOSE): (_CLOSING, (LifeStep.SAY_GOODBYE,)),
    (_OPEN, _Event.LOSE): (_LOST, (LifeStep.SHUT_DOWN,)),
    (_CLOSING, _Event.CLOSE): (_CLOSING, ()),
    (_CLOSING, _Event.LOSE): (_LOST, (LifeStep.SHUT_DOWN,)),
    (_LOST, _Event.CLOSE): (_LOST, ()),
    (_LOST, _Event.LOSE): (_LOST, ()),
    (_LOST, _Event.RELEASE): (_CLOSED, (LifeStep.TELL_OWNER,)),
    (_CLOSED, _Event.CLOSE): (_CLOSED, ()),
    (_CLOSED, _Event.LOSE): (_CLOSED, ()),
}


class ConnectionLife:
    """One connection's life. `cause` is why it ended, None while it has not, and after a close by either side."""

    __slots__ = ("cause", "state")

    def __init__(self) -> None:
        self.state = LifeState.OPEN
        self.cause: Exception | None = None

    def close(self) -> tuple[LifeStep, ...]:
        """This side wants the end."""
        return self._move(_Event.CLOSE)

    def lose(self, cause: Exception | None) -> tuple[LifeStep, ...]:
        """The connection has ended, by a goodbye when there is no cause. Only the first cause counts, none after a close."""
        if self.state is LifeState.OPEN:
            self.cause = cause
        return self._move(_Event.LOSE)

    def release(self) -> tuple[LifeStep, ...]:
        """No thread uses the transport any more.

        Raises:
            LocalProtocolError: the connection has not ended, or was released before.
        """
        return self._move(_Event.RELEASE)

    def _move(self, event: _Event) -> tuple[LifeStep, ...]:
        move = _MOVES.get((self.state, event))
        if move is None:
            raise LocalProtocolError(f"a connection in state {self.state.name} cannot {event.name}; its cause: {self.cause}")
        self.state, steps = move
        return steps

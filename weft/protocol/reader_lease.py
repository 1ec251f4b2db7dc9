"""The right to read a connection now: of its own reader, or of a thread that waits for a message and reads it by itself.

A waiter that reads gets its answer without waking another thread. The connection's own reader therefore stays back while there
are waiters and for `linger_s` after the last one left, so that a loop of calls finds the lease free; it reads at all other
times, so that messages are taken without any waiter.

    FREE         nobody reads; the owner stays back
    OWNER        the connection's own reader reads, from the connection's first moment on
    WAITER       one waiter reads, the others wait for its end
    OWNER_LAST   the connection is lost; the owner notices that at the end of the call that it is in
    WAITER_LAST  the same with a waiter
    STOPPED      nobody reads any more, and the owner cleans up
    ENDED        the connection's owner knows

`_MOVES` lists every legal move with what the shell has to do. The lease has no lock and no clock: the shell serialises the
calls and says what time it is.
"""

from __future__ import annotations

import enum
from typing import Final, Generic, TypeAlias, TypeVar

from weft.protocol.protocol_error import LocalProtocolError

LINGER_S: Final = 0.005
"""The time that the owner leaves the lease free after a waiter, unless told otherwise."""


class LeaseState(enum.IntEnum):
    """The states of a lease."""

    FREE = enum.auto()
    OWNER = enum.auto()
    WAITER = enum.auto()
    OWNER_LAST = enum.auto()
    WAITER_LAST = enum.auto()
    STOPPED = enum.auto()
    ENDED = enum.auto()


class LeaseStep(enum.IntEnum):
    """The instructions to the shell."""

    READ = enum.auto()
    """The caller has the lease now."""
    STAY_BACK = enum.auto()
    """The caller does not have it, and is told when it may ask again."""
    LEAVE = enum.auto()
    """The caller, the owner, cleans up: nobody will read again."""
    WAKE_WAITERS = enum.auto()
    """Wake all that are in `waiting`."""
    WAKE_OWNER = enum.auto()
    """Wake the owner."""


class _Event(enum.IntEnum):
    OWNER_ASKS = enum.auto()
    WAITER_ASKS = enum.auto()
    OWNER_GIVES = enum.auto()
    WAITER_GIVES = enum.auto()
    STOP = enum.auto()
    END = enum.auto()


Steps: TypeAlias = tuple[LeaseStep, ...]
Waiter = TypeVar("Waiter")
_FREE, _OWNER, _WAITER, _OWNER_LAST, _WAITER_LAST, _STOPPED, _ENDED = LeaseState
_READ, _STAY_BACK, _LEAVE, _WAKE_WAITERS, _WAKE_OWNER = LeaseStep
_OWNER_ASKS, _WAITER_ASKS, _OWNER_GIVES, _WAITER_GIVES, _STOP, _END = _Event

_MOVES: Final[dict[tuple[LeaseState, _Event], tuple[LeaseState, Steps]]] = {
    (_FREE, _OWNER_ASKS): (_OWNER, (_READ,)),
    (_FREE, _WAITER_ASKS): (_WAITER, (_READ,)),
    (_FREE, _STOP): (_STOPPED, (_WAKE_OWNER,)),
    (_OWNER, _WAITER_ASKS): (_OWNER, (_STAY_BACK,)),
    (_OWNER, _OWNER_GIVES): (_FREE, (_WAKE_WAITERS,)),
    (_OWNER, _STOP): (_OWNER_LAST, ()),
    (_WAITER, _OWNER_ASKS): (_WAITER, (_STAY_BACK,)),
    (_WAITER, _WAITER_ASKS): (_WAITER, (_STAY_BACK,)),
    (_WAITER, _WAITER_GIVES): (_FREE, (_WAKE_WAITERS,)),
    (_WAITER, _STOP): (_WAITER_LAST, ()),
    (_OWNER_LAST, _WAITER_ASKS): (_OWNER_LAST, (_STAY_BACK,)),
    (_OWNER_LAST, _OWNER_GIVES): (_STOPPED, ()),
    (_OWNER_LAST, _STOP): (_OWNER_LAST, ()),
    (_OWNER_LAST, _END): (_ENDED, (_WAKE_WAITERS,)),
    (_WAITER_LAST, _OWNER_ASKS): (_WAITER_LAST, (_STAY_BACK,)),
    (_WAITER_LAST, _WAITER_ASKS): (_WAITER_LAST, (_STAY_BACK,)),
    (_WAITER_LAST, _WAITER_GIVES): (_STOPPED, (_WAKE_OWNER,)),
    (_WAITER_LAST, _STOP): (_WAITER_LAST, ()),
    (_STOPPED, _OWNER_ASKS): (_STOPPED, (_LEAVE,)),
    (_STOPPED, _WAITER_ASKS): (_STOPPED, (_STAY_BACK,)),
    (_STOPPED, _STOP): (_STOPPED, ()),
    (_STOPPED, _END): (_ENDED, (_WAKE_WAITERS,)),
    (_ENDED, _WAITER_ASKS): (_ENDED, (_STAY_BACK,)),
    (_ENDED, _STOP): (_ENDED, ()),
}


class ReaderLease(Generic[Waiter]):
    """The lease of one connection.

    `waiting` has the waiters that asked in vain and have not left, by whatever the shell knows them. `linger_s` is what an
    unasked message may be delayed by, and how often the owner wakes in a loop of calls.
    """

    __slots__ = ("_last_wait_s", "_owner_sleeps", "is_ended", "is_stopped", "linger_s", "state", "waiting")

    def __init__(self, linger_s: float = LINGER_S) -> None:
        self.state = _OWNER
        self.waiting: list[Waiter] = []
        self.linger_s = linger_s
        self.is_stopped = False
        self.is_ended = False
        self._last_wait_s = -float("inf")
        self._owner_sleeps = False

    def owner_asks(self, now_s: float) -> tuple[LeaseStep, float | None]:
        """The owner wants to read; if it has to stay back, asks again when it is woken, or after so many seconds.

        The end of a long wait wakes it. In a loop of short ones a wake-up each would cost what reading without one saves, so it
        looks by itself.
        """
        self._owner_sleeps = False
        left_s = self._last_wait_s + self.linger_s - now_s
        if self.state is _FREE and (self.waiting or left_s > 0):
            step = _STAY_BACK
        else:
            (step,) = self._move(_OWNER_ASKS)
        if step is not _STAY_BACK:
            return step, None
        self._owner_sleeps = left_s <= 0
        return step, None if self._owner_sleeps else self.linger_s

    def owner_gives(self) -> Steps:
        """The owner hands the lease to the waiters."""
        return self._move(_OWNER_GIVES)

    def waiter_asks(self, waiter: Waiter) -> LeaseStep:
        """A waiter wants to read, for the first time or again."""
        self.state, (step,) = _MOVES[self.state, _WAITER_ASKS]  # which is legal in every state
        if step is _STAY_BACK:
            if waiter not in self.waiting:
                self.waiting.append(waiter)
        elif waiter in self.waiting:
            self.waiting.remove(waiter)
        return step

    def waiter_tries(self) -> bool:
        """A waiter that needs not be told later reads if nobody does; return whether it does."""
        if self.state is not _FREE:
            return False
        self.state = _WAITER
        return True

    def waiter_gives(self, now_s: float) -> Steps:
        """The waiter that reads stops reading."""
        self._last_wait_s = now_s
        move = _MOVES.get((self.state, _WAITER_GIVES))
        if move is None:
            raise self._illegal(_WAITER_GIVES)
        self.state, steps = move
        return self._and_owner(steps) if self._owner_sleeps or self.waiting or self.is_stopped else ()

    def waiter_leaves(self, waiter: Waiter, now_s: float) -> Steps:
        """A waiter that asked in vain waits no more."""
        self.waiting.remove(waiter)
        self._last_wait_s = now_s
        return self._and_owner(())

    def stop(self) -> Steps:
        """Nobody shall read any more, but for the call that a reader is in."""
        self.is_stopped = True
        return self._move(_STOP)

    def note_closed(self) -> Steps:
        """The connection is closed and its owner knows."""
        self.is_ended = True
        return self._move(_END)

    def _and_owner(self, steps: Steps) -> Steps:
        """Wake the owner, too, if it sleeps for as long as there are waiters and there are none any more."""
        return (*steps, _WAKE_OWNER) if self._owner_sleeps and not self.waiting else steps

    def _move(self, event: _Event) -> Steps:
        move = _MOVES.get((self.state, event))
        if move is None:
            raise self._illegal(event)
        self.state, steps = move
        return steps

    def _illegal(self, event: _Event) -> LocalProtocolError:
        found = f"with {len(self.waiting)} threads waiting"
        return LocalProtocolError(f"a reader lease in state {self.state.name}, {found}, cannot {event.name}")

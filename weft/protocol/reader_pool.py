"""The rules of a pool of threads that read many connections: the leader/followers pattern, with a watch over the leader.

One thread at a time, the leader, waits for all connections, and handles each message where it read it. Every thread has a role:

    LEADER    waits for all connections that are polled, and handles what comes
    HELD_UP   was the leader, and still handles a message; its connection is not polled meanwhile
    WATCHER   looks now and then whether the leader still handles the same message, and deposes it then
    SPARE     rests until it is needed

`_MOVES` lists every legal change of role. The rules have no lock, no clock and no descriptor: the shell serialises the calls,
all but `begins`, and executes every step that it is given, in order.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from weft.protocol.protocol_error import LocalProtocolError

_QUIET_LOOKS: Final = 4  # after so many without a message the watcher sleeps, until there is one


Connection = TypeVar("Connection")


class Role(enum.Enum):
    """The work of a thread."""

    SPARE = enum.auto()
    WATCHER = enum.auto()
    LEADER = enum.auto()
    HELD_UP = enum.auto()


class PoolStep(enum.Enum):
    """The instructions to the shell. From LEAD on they are for the thread that asks, each the last one that it is given."""

    START_THREAD = enum.auto()
    WAKE_SPARE = enum.auto()
    WAKE_WATCHER = enum.auto()
    WAKE_ALL = enum.auto()
    """Wake the leader, the watcher and all spares: there is nothing left to read."""
    LEAD = enum.auto()
    WATCH = enum.auto()
    """Ask again when woken, or after the time between two looks."""
    SLEEP = enum.auto()
    """Ask again when woken as the watcher."""
    REST = enum.auto()
    """Ask again when woken as a spare, or after a long time, and say which."""
    LEAVE = enum.auto()
    STOP_LEADING = enum.auto()
    """Handle no further message as the leader, and ask again."""


@dataclass(frozen=True, slots=True)
class Poll(Generic[Connection]):
    """Have the leader wait for this connection, too."""

    connection: Connection


@dataclass(frozen=True, slots=True)
class Unpoll(Generic[Connection]):
    """Have nobody wait for this connection."""

    connection: Connection


Step: TypeAlias = Poll[Connection] | Unpoll[Connection] | PoolStep

_MOVES: Final = frozenset(
    {
        (Role.SPARE, Role.LEADER),
        (Role.SPARE, Role.WATCHER),
        (Role.WATCHER, Role.LEADER),
        (Role.WATCHER, Role.SPARE),
        (Role.LEADER, Role.HELD_UP),
        (Role.LEADER, Role.SPARE),
        (Role.HELD_UP, Role.SPARE),
    }
)


class PoolRules(Generic[Connection]):
    """Threads, by any number that tells them apart, and the connections of one pool."""

    def __init__(self) -> None:
        self.roles: dict[int, Role] = {}
        self.thread_count = 0  # with those that were started and have not asked yet
        self.watcher_sleeps = False
        self._leader: int | None = None
        self._watcher: int | None = None
        self._polled: set[Connection] = set()
        self._count = 0  # of connections, with those that a thread holds up
        self._held_up = 0
        self._read: Connection | None = None  # the connection that the leader reads now
        self._turns = 0
        self._seen: tuple[int, Connection | None] = (0, None)  # by the watcher, at its last look
        self._quiet = 0  # looks without a message

    @property
    def polled_count(self) -> int:
        """The number of connections that the leader waits for."""
        return len(self._polled)

    def add(self, connection: Connection) -> list[Step[Connection]]:
        """Read a connection from now on."""
        self._count += 1
        # The threads come first: the last step is the one that may fail.
        steps = [*self._missing_threads(), *((PoolStep.WAKE_WATCHER,) if self.watcher_sleeps else ())]
        return [*steps, *self._poll(connection)]

    def asks(self, thread: int, has_rested_long: bool = False) -> list[Step[Connection]]:
        """A thread is free, and asks for its role. A watcher asks again after each look, a spare after each rest."""
        role = self.roles.setdefault(thread, Role.SPARE)
        steps: list[Step[Connection]] = self._look() if role is Role.WATCHER else []
        is_idle = has_rested_long and self._leader is not None and self.thread_count > self._wanted_threads
        if not self._count or (is_idle and role is Role.SPARE):
            return [*steps, *self._leave(thread)]
        if self._leader is None:
            self._leader = thread
            if role is Role.WATCHER:
                self._watcher = None
            self._become(thread, Role.LEADER)
            return [*steps, *(() if self._watcher is not None else (PoolStep.WAKE_SPARE,)), PoolStep.LEAD]
        if self._watcher in (None, thread):
            return [*steps, self._watch(thread)]
        return [*steps, PoolStep.REST]

    def begins(self, connection: Connection) -> bool:
        """The leader begins to read; whether the watcher has to be woken. Called without the others' serialisation.

        Only the leader changes these two, and the watcher that reads them between two of its changes looks again.
        """
        self._turns += 1
        self._read = connection
        return self.watcher_sleeps and self._count > 1

    def ends(self, thread: int, connection: Connection, is_over: bool) -> list[Step[Connection]]:
        """A thread has handled what came. The connection `is_over` when `remove` was called for it."""
        if self._leader == thread:
            self._read = None
            if self._count:
                return []
            return self._stop_leading(thread)
        if self.roles.get(thread) is Role.HELD_UP:
            self._become(thread, Role.SPARE)
            self._held_up -= 1
        return [*(() if is_over else self._poll(connection)), PoolStep.STOP_LEADING]

    def woken(self, thread: int) -> list[Step[Connection]]:
        """The leader was woken without a message."""
        return [] if self._count else self._stop_leading(thread)

    def withdraw(self, connection: Connection) -> list[Step[Connection]]:
        """A connection is over; its descriptor is about to be closed."""
        return self._unpoll(connection)

    def remove(self) -> list[Step[Connection]]:
        """A connection that was withdrawn is closed."""
        self._count -= 1
        return [] if self._count else [PoolStep.WAKE_ALL]

    def refuse(self, connection: Connection) -> list[Step[Connection]]:
        """A connection that was added cannot be polled, and is not read."""
        self._polled.discard(connection)
        return self.remove()

    def steps_aside(self, thread: int) -> list[Step[Connection]]:
        """A handler may take long. Nothing where there is no other connection to read."""
        if self._leader != thread or len(self._polled) < 2:
            return []
        has_spares = Role.SPARE in self.roles.values()
        return [*self._depose(), PoolStep.WAKE_SPARE if has_spares else PoolStep.WAKE_WATCHER]

    @property
    def _wanted_threads(self) -> int:
        """Those that are held up, the leader, and, when there are others to lead for, one that watches it."""
        return self._held_up + min(self._count, 2)

    def _missing_threads(self) -> list[Step[Connection]]:
        missing = max(self._wanted_threads - self.thread_count, 0)
        self.thread_count += missing
        return [PoolStep.START_THREAD] * missing

    def _poll(self, connection: Connection) -> list[Step[Connection]]:
        self._polled.add(connection)
        return [Poll(connection)]

    def _unpoll(self, connection: Connection) -> list[Step[Connection]]:
        if connection not in self._polled:
            return []
        self._polled.discard(connection)
        return [Unpoll(connection)]

    def _look(self) -> list[Step[Connection]]:
        """Depose a leader that does not get on."""
        turns, read = self._seen
        has_moved = turns != self._turns
        self._quiet = 0 if has_moved else self._quiet + 1
        self.watcher_sleeps = False
        if self._leader is not None and not has_moved and read is not None and read is self._read:
            return self._depose()
        return []

    def _watch(self, thread: int) -> Step[Connection]:
        if self._watcher is None:
            self._watcher = thread
            self._quiet = 0
            self._become(thread, Role.WATCHER)
        self._seen = (self._turns, self._read)
        self.watcher_sleeps = self._count == 1 or self._quiet > _QUIET_LOOKS
        return PoolStep.SLEEP if self.watcher_sleeps else PoolStep.WATCH

    def _depose(self) -> list[Step[Connection]]:
        """Take the lead from the thread that has it; it goes on with the connection that it handles, and with nothing else."""
        assert self._leader is not None
        assert self._read is not None
        steps = self._unpoll(self._read)
        self._become(self._leader, Role.HELD_UP)
        self._read = self._leader = None
        self._held_up += 1
        return [*steps, *self._missing_threads()]

    def _stop_leading(self, thread: int) -> list[Step[Connection]]:
        self._leader = None
        self._become(thread, Role.SPARE)
        return [PoolStep.STOP_LEADING]

    def _leave(self, thread: int) -> list[Step[Connection]]:
        if self._watcher == thread:
            self._watcher = None
        del self.roles[thread]
        self.thread_count -= 1
        return [PoolStep.LEAVE]

    def _become(self, thread: int, role: Role) -> None:
        before = self.roles[thread]
        if (before, role) not in _MOVES:
            raise LocalProtocolError(f"a {before.name} of {self.thread_count} threads cannot become a {role.name}")
        self.roles[thread] = role

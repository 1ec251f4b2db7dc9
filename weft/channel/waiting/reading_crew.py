"""ReadingCrew: few threads that read many connections.

One thread at a time, the leader, waits for all connections, and handles each message where it read it. So requests of many
clients cost no switch between threads, which would hand the interpreter over each time. Who handles what may take long steps
aside: another thread leads, and the connection is not read until the handler is done. A handler that takes long unannounced is
noticed by a follower, which looks every `WATCH_S` whether the leader gets on, and leads in its place if not. So what holds one
connection up never delays others by more than twice that.
"""

from __future__ import annotations

import os
import select
import threading
from typing import Final, Protocol

from weft.channel.waiting.busy_poll import BusyPoll
from weft.channel.waiting.wait import role
from weft.platform.fork_release import release_in_children

WATCH_S: Final = 0.005
"""How often it is looked whether the leader still handles the same message."""

IDLE_S: Final = 10.0
"""How long a thread that has nothing to do is kept."""

_QUIET_LOOKS: Final = 4  # after so many without a message the follower sleeps, until there is one
_MAX_FOUND: Final = 64

IS_AVAILABLE: Final = hasattr(select, "epoll")


class Readable(Protocol):
    """A connection, as its crew sees it."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be read."""
        ...

    def fileno(self) -> int:
        """What becomes readable when there is something to read, or the end."""
        ...

    def read_ready(self) -> None:
        """Receive what has come and handle it."""
        ...

    def finish(self) -> None:
        """Release everything; called once, last."""
        ...


class ReadingCrew:
    """Reads connections from `add` to their end, on daemon threads that it starts and ends as they are needed.

    There are at most two threads more than connections that are held up.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._spare = threading.Condition(self._lock)  # threads that wait to be needed
        self._watch = threading.Condition(self._lock)  # the one of them that watches the leader
        self._spares = 0
        self._has_watcher = False
        self._watcher_sleeps = False
        self._threads: set[threading.Thread] = set()
        self._poll = select.epoll()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)  # for a leader that has nothing left to read
        self._poll.register(self._wake, select.EPOLLIN)
        self._busy_poll = BusyPoll()
        self._connections: dict[int, Readable] = {}  # by descriptor; those that the leader reads
        self._count = 0  # with those that a thread holds that does not lead any more
        self._held_up = 0  # threads that hold one
        self._leader = 0  # a thread's number, or 0
        self._handled: Readable | None = None  # what the leader reads now
        self._turns = 0
        release_in_children(self)

    def add(self, connection: Readable) -> None:
        """Read a connection from now on."""
        with self._lock:
            self._register(connection)
            self._count += 1
            self._start_missing()
            if self._watcher_sleeps:
                self._watch.notify()

    def step_aside(self) -> None:
        """For the handler of a message: let other connections be read meanwhile. Nothing where there are none."""
        with self._lock:
            if self._leader == threading.get_ident() and len(self._connections) > 1:
                self._depose()
                if self._spares:
                    self._spare.notify()
                else:
                    self._watch.notify()

    def join(self) -> None:
        """Wait for the end of all threads, unless this is one, when all connections are over or closing; add none any more."""
        with self._lock:
            threads = list(self._threads)
        if threading.current_thread() in threads:
            return
        for thread in threads:
            thread.join()
        self.release_after_fork()

    def release_after_fork(self) -> None:
        """In a forked child: give up the child's copies."""
        if not self._poll.closed:
            self._poll.close()
            os.close(self._wake)

    # What is called with the lock held.

    def _register(self, connection: Readable) -> None:
        fd = connection.fileno()
        self._connections[fd] = connection
        self._poll.register(fd, select.EPOLLIN)

    def _withdraw(self, connection: Readable) -> None:
        fd = connection.fileno()
        if self._connections.get(fd) is connection:
            del self._connections[fd]
            self._poll.unregister(fd)

    def _depose(self) -> None:
        """Take the lead from the thread that has it; it goes on with the connection that it handles, and with nothing else."""
        assert self._handled is not None
        self._withdraw(self._handled)
        self._handled = None
        self._leader = 0
        self._held_up += 1
        self._start_missing()

    @property
    def _wanted_threads(self) -> int:
        """Those that are held up, the leader, and, when there are others to lead for, one that watches it."""
        return self._held_up + min(self._count, 2)

    def _start_missing(self) -> None:
        while len(self._threads) < self._wanted_threads:
            thread = threading.Thread(target=self._work, name=f"weft-read-{self._name}", daemon=True)
            self._threads.add(thread)
            thread.start()

    # The threads.

    def _work(self) -> None:
        role.reads = True
        me = threading.get_ident()
        while self._wait_to_lead(me):
            while self._lead(me):
                pass

    def _wait_to_lead(self, me: int) -> bool:
        """Wait until this thread leads; False when it is not needed any more, and is not counted from then on."""
        with self._lock:
            while self._count:
                if not self._leader:
                    self._leader = me
                    if not self._has_watcher:
                        self._spare.notify()
                    return True
                if not self._has_watcher:
                    self._has_watcher = True
                    self._watch_leader()
                    self._has_watcher = False
                else:
                    self._spares += 1
                    is_called = self._spare.wait(IDLE_S)
                    self._spares -= 1
                    # A call may have come just when the time was over.
                    if not is_called and self._leader and len(self._threads) > self._wanted_threads:
                        break
            self._threads.discard(threading.current_thread())
            return False

    def _watch_leader(self) -> None:
        """Wait until there is no leader; depose one that does not get on."""
        quiet = 0
        while self._count and self._leader:
            turns, handled = self._turns, self._handled
            self._watcher_sleeps = self._count == 1 or quiet > _QUIET_LOOKS
            self._watch.wait(None if self._watcher_sleeps else WATCH_S)
            self._watcher_sleeps = False
            quiet = quiet + 1 if turns == self._turns else 0
            if handled is not None and handled is self._handled and turns == self._turns:
                self._depose()

    def _lead(self, me: int) -> bool:
        """Read what comes next; False when this thread does not lead any more."""
        for fd, _ in self._busy_poll.look(self._poll.poll) or self._poll.poll(None, _MAX_FOUND):
            connection = self._connections.get(fd)
            if connection is not None:
                if not self._read(me, connection):
                    return False
            elif fd == self._wake:
                os.eventfd_read(fd)
        with self._lock:
            if not self._count:
                self._leader = 0
            return self._leader == me

    def _read(self, me: int, connection: Readable) -> bool:
        self._turns += 1
        self._handled = connection
        if self._watcher_sleeps and self._count > 1:
            with self._lock:
                self._watch.notify()
        connection.read_ready()
        if connection.is_over:
            self._end(connection)
        with self._lock:
            if self._leader == me:
                self._handled = None
                return True
            self._held_up -= 1
            if not connection.is_over:
                self._register(connection)
            return False

    def _end(self, connection: Readable) -> None:
        with self._lock:
            self._withdraw(connection)
        connection.finish()
        with self._lock:
            self._count -= 1
            if not self._count:
                self._spare.notify_all()
                self._watch.notify_all()
                os.eventfd_write(self._wake, 1)

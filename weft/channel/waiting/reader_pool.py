"""ReaderPool: few threads that read many connections. The rules, a leader/followers pattern, are `protocol.reader_pool`'s.

The leader waits for all connections at once, so requests of many clients cost no switch between threads, which would hand the
interpreter over each time. A handler that may take long steps aside: another thread leads, and the connection is not read until
the handler is done. A handler that takes long unannounced is noticed by the watcher, which looks every `WATCH_S` whether the
leader gets on, and leads in its place if not. So a connection that is held up never delays others by more than twice that.

Measured on two cores: with a thread for each, eight busy clients let a server hand its interpreter from thread to thread for
every step, which cost as much as the step.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Sequence
from typing import Final, Protocol

from weft.channel.waiting.busy_poll import busy_poll
from weft.channel.waiting.wait import role
from weft.platform.process.fork_release import release_in_children
from weft.platform.waits.quick_lately import QuickLately
from weft.protocol.reader_pool import Poll, PoolRules, PoolStep, Step, Unpoll

WATCH_S: Final = 0.005
"""The time between two looks at whether the leader still handles the same message."""

IDLE_S: Final = 10.0
"""The time that a thread is kept which has nothing to do."""

_MAX_FOUND: Final = 64

IS_AVAILABLE: Final = hasattr(select, "epoll")


class Readable(Protocol):
    """A connection, as its pool sees it."""

    @property
    def fd(self) -> int:
        """The descriptor that becomes readable when there is something to read, or the end."""
        ...

    def read_ready(self) -> bool:
        """Receive what has come and handle it; return whether there may be more, which there is not after the end."""
        ...

    def release(self) -> None:
        """Release everything; called once, last."""
        ...


class ReaderPool:
    """Reads connections from `add` to their end, on daemon threads that it starts and ends as they are needed.

    There are at most two threads more than connections that are held up.
    """

    def __init__(self, name: str) -> None:
        self.rules: PoolRules[Readable] = PoolRules()
        self._name = name
        self._lock = threading.Lock()
        self._spare = threading.Condition(self._lock)  # spares wait here
        self._watcher = threading.Condition(self._lock)  # the watcher waits here
        self._threads: set[threading.Thread] = set()
        self._poll = select.epoll()
        self._wakeup = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)  # for a leader that has nothing left to read
        self._poll.register(self._wakeup, select.EPOLLIN)
        self._quick = QuickLately()
        self._polled: dict[int, Readable] = {}  # by descriptor
        release_in_children(self)

    def add(self, connection: Readable) -> None:
        """Read a connection from now on. Raises OSError when the system can watch no more."""
        with self._lock:
            try:
                self._execute(self.rules.add(connection))
            except OSError:
                self._execute(self.rules.refuse(connection))
                raise

    def step_aside(self) -> None:
        """For the handler of a message: let other connections be read meanwhile. Nothing where there are none."""
        with self._lock:
            self._execute(self.rules.steps_aside(threading.get_ident()))

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
            os.close(self._wakeup)

    def _execute(self, steps: Sequence[Step[Readable]]) -> None:
        """Do what the rules say, with the lock held; the step for the thread that asks is returned to it by `_ask`."""
        for step in steps:
            match step:
                case Poll(connection=connection):
                    self._poll.register(connection.fd, select.EPOLLIN)
                    self._polled[connection.fd] = connection
                case Unpoll(connection=connection):
                    del self._polled[connection.fd]
                    self._poll.unregister(connection.fd)
                case PoolStep.START_THREAD:
                    thread = threading.Thread(target=self._work, name=f"weft-read-{self._name}", daemon=True)
                    self._threads.add(thread)
                    thread.start()
                case PoolStep.WAKE_SPARE:
                    self._spare.notify()
                case PoolStep.WAKE_WATCHER:
                    self._watcher.notify()
                case PoolStep.WAKE_ALL:
                    self._spare.notify_all()
                    self._watcher.notify_all()
                    os.eventfd_write(self._wakeup, 1)
                case _:
                    raise AssertionError(f"{step} is for the thread that asks")

    # The threads.

    def _work(self) -> None:
        role.reads = True
        me = threading.get_ident()
        while self._wait_to_lead(me):
            self._lead(me)

    def _wait_to_lead(self, me: int) -> bool:
        """Wait until this thread leads; False when it is not needed any more."""
        has_rested_long = False
        with self._lock:
            while True:
                *others, own = self.rules.asks(me, has_rested_long)
                self._execute(others)
                has_rested_long = False
                match own:
                    case PoolStep.LEAD:
                        return True
                    case PoolStep.WATCH:
                        self._watcher.wait(WATCH_S)
                    case PoolStep.SLEEP:
                        self._watcher.wait()
                    case PoolStep.REST:
                        has_rested_long = not self._spare.wait(IDLE_S)
                    case _:
                        assert own is PoolStep.LEAVE
                        self._threads.discard(threading.current_thread())
                        return False

    def _lead(self, me: int) -> None:
        """Read what comes until this thread does not lead any more."""
        while True:
            for fd, _ in busy_poll(self._quick, self._poll.poll) or self._poll.poll(None, _MAX_FOUND):
                connection = self._polled.get(fd)
                if connection is not None:
                    if not self._read(me, connection):
                        return
                elif fd == self._wakeup:
                    os.eventfd_read(fd)
                    with self._lock:
                        if self.rules.woken(me):
                            return

    def _read(self, me: int, connection: Readable) -> bool:
        """Handle what one connection has brought; whether this thread still leads."""
        if self.rules.begins(connection):
            with self._lock:
                self._watcher.notify()
        is_over = not connection.read_ready()
        if is_over:
            self._release(connection)
        with self._lock:
            steps = self.rules.ends(me, connection, is_over)
            if steps:
                self._execute(steps[:-1])  # the last one is to stop leading
            return not steps

    def _release(self, connection: Readable) -> None:
        with self._lock:
            self._execute(self.rules.withdraw(connection))
        connection.release()
        with self._lock:
            self._execute(self.rules.remove())

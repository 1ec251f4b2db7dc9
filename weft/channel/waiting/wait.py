"""Waiting for messages by reading them: the thread that waits needs no other to wake it.

Who reads a connection, and handles its messages, is one of

    its own thread       made for it by `Connection.start`, from the first message to the end
    a pool's thread      the leader of a `ReaderPool`, or one that has been deposed while it handled a message
    a handshake's        for the messages that came right behind the Hello
    a waiting thread     inside `wait_until`, for as long as it has the connection's lease

Such a thread must not wait for a peer: nothing would be read any more. `role.reads` says of the current thread that it is one.
The first three set it once, in `MessageReader.run`, `ReaderPool._work` and `Listener._serve`, for as long as they live. A
waiting thread is one while it reads, and is the only one that stops being it: `MessageReader.read_as_waiter` sets it and takes
it back.

A step on a variable of another process went from 116 to 67 µs when the thread that runs it began to read by itself (two cores).
Before it receives it polls, although it might sleep in the call that receives: in that one, Linux wakes it also when the peer
has read what it sent, 1.5 times a step instead of once (Unix sockets).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from weft.channel.waiting.busy_poll import Found, Poll, busy_poll
from weft.channel.waiting.lease import Lease
from weft.channel.waiting.wakeup_pipe import of_this_thread
from weft.platform.process.interrupts import SleepEndedError, sleep
from weft.platform.waits.quick_lately import QuickLately


class Source(Protocol):
    """A connection, as a thread that waits for its messages sees it."""

    @property
    def lease(self) -> Lease:
        """Decides which thread reads."""
        ...

    @property
    def fd(self) -> int:
        """The descriptor that is readable while there is something to read."""
        ...

    @property
    def poll(self) -> Poll:
        """Waits, at most so many milliseconds, until `fd` is readable."""
        ...

    def read_as_waiter(self, is_alone: bool) -> bool:
        """Read what has come and handle it; stops the lease when the stream has ended. Returns whether there was something.

        A reader that `is_alone` waits a moment for the rest of a large payload; others may have something to read meanwhile.
        """
        ...


class _Role(threading.local):
    reads = False


role = _Role()
"""Tells whether the current thread `reads` some connection; see this module."""


def wait_until(
    is_done: Callable[[], object],
    sources: Sequence[Source],
    timeout_s: float | None,
    quick: QuickLately,
    sources_only: bool = False,
) -> None:
    """Wait until `is_done()`, at most `timeout_s` seconds, reading the sources whenever nobody else does.

    It becomes true by this thread, or by one that wakes this one's pipe, also where a message of a source or its end has
    made it true; with `sources_only` by sources alone, which wake nobody, and the wait ends with the last of them. A thread
    that handles a message reads no further ones, and waits for its pipe alone. `quick` is how waits of this kind have gone.

    On the main thread, in a block that defers interrupts, one that comes ends the wait as well.
    """
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        if sources_only and len(sources) == 1 and not role.reads and sources[0].lease.take_free():
            _read_alone(is_done, sources[0], deadline_s, quick)
            if is_done():
                return
        wait = _Wait(is_done, () if role.reads else sources, quick, sources_only)
        try:
            while not is_done() and not wait.is_over:
                left_s = None if deadline_s is None else deadline_s - time.monotonic()
                if left_s is not None and left_s <= 0:
                    return
                wait.read_next(left_s)
        finally:
            wait.give_all()
    except SleepEndedError:
        return


def _read_alone(is_done: Callable[[], object], source: Source, deadline_s: float | None, quick: QuickLately) -> None:
    """Read the only source, whose lease this thread has, until `is_done()`, the deadline or the end of the stream.

    Nothing but the source can wake this thread then, so it needs no pipe. `_Wait` would do, but takes five Python calls more
    for each message: eight clients of one server run 10 % more null steps so (two cores, 2026-11-22).
    """
    lease, poll = source.lease, source.poll
    try:
        while not is_done() and not lease.rules.is_stopped:
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return
            if busy_poll(quick, poll) or sleep(poll, None if left_s is None else int(left_s * 1000) + 1):
                source.read_as_waiter(True)
                if lease.rules.waiting:
                    lease.tell_waiters()
    finally:
        lease.give()


class _Wait:
    """One thread's wait: the sources whose leases it has `held`, by descriptor, and those where it was `refused`."""

    __slots__ = ("_is_done", "_quick", "_sources_only", "held", "is_over", "refused", "wakeup")

    def __init__(
        self, is_done: Callable[[], object], sources: Sequence[Source], quick: QuickLately, sources_only: bool
    ) -> None:
        self.wakeup = wakeup = of_this_thread.pipe
        self.held: dict[int, Source] = {}
        self.refused: list[Source] = []
        self.is_over = False  # nothing can come any more
        self._is_done = is_done
        self._quick = quick
        self._sources_only = sources_only
        for source in sources:
            if source.lease.take(wakeup):
                self.held[source.fd] = source
            else:
                self.refused.append(source)

    def read_next(self, left_s: float | None) -> None:
        """Read what comes next, or return for another reason to ask whether the wait is over."""
        held, wakeup = self.held, self.wakeup
        fds = tuple(held)
        poll = (wakeup.pollers.get(fds) or wakeup.poller(fds)).poll
        is_alone = len(fds) == 1
        # Where nothing is read, another thread is to do something, and looking would only keep it from the interpreter.
        found = busy_poll(self._quick, poll, self._is_done) if held else []
        for fd, _ in found or self._sleep(poll, left_s):
            if fd in held:
                held[fd].read_as_waiter(is_alone)
                self._note_read(fd)
            else:
                wakeup.clear()
                self._take_free()

    def give_all(self) -> None:
        """Give the leases back, and wait for none any more."""
        for source in self.held.values():
            source.lease.give()
        for source in self.refused:
            source.lease.leave(self.wakeup)

    def _note_read(self, fd: int) -> None:
        """Tell others who may wait for the message, and stop reading a connection that is over."""
        lease = self.held[fd].lease
        if lease.rules.is_stopped:
            # Its owner waits for the lease to clean up, and this thread for the owner, which tells of the end.
            self.refused.append(self.held.pop(fd))
            lease.give()
            lease.take(self.wakeup)
        elif lease.rules.waiting:
            lease.tell_waiters()

    def _sleep(self, poll: Callable[..., Found], left_s: float | None) -> Found:
        # In this order: a wake-up that comes after the look finds that this thread may sleep, and writes to its pipe.
        self.wakeup.awaits_message = self._sources_only
        self.wakeup.may_sleep = True
        try:
            if self._is_done() or (self.refused and self._take_free()):
                return []
            if self._sources_only and not self.held and all(source.lease.rules.is_ended for source in self.refused):
                self.is_over = True
                return []
            return sleep(poll, None if left_s is None else int(left_s * 1000) + 1)
        finally:
            self.wakeup.may_sleep = False

    def _take_free(self) -> bool:
        """Take the leases that others have given; return whether there were any."""
        free = [source for source in self.refused if source.lease.take(self.wakeup)]
        for source in free:
            self.refused.remove(source)
            self.held[source.fd] = source
        return bool(free)

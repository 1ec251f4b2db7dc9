"""Waiting for what messages bring, by reading them: the thread that waits needs no other to wake it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from weft.channel.waiting.busy_poll import BusyPoll, Found
from weft.channel.waiting.doorbell import Doorbell, own_doorbell
from weft.channel.waiting.read_turn import ReadTurn


class Source(Protocol):
    """A connection, as one who waits for its messages sees it."""

    @property
    def turn(self) -> ReadTurn:
        """Whose turn it is to read."""
        ...

    def fileno(self) -> int:
        """What becomes readable when there is something to read."""
        ...

    def read_as_waiter(self, is_alone: bool) -> bool:
        """Read what has come and handle it; stops the turn when the stream has ended. Returns whether there was something.

        A reader that `is_alone` waits a moment for the rest of a large payload; others may have something to read meanwhile.
        """
        ...


class _Role(threading.local):
    reads = False


role = _Role()
"""What the current thread does: one that `reads` some connection, and handles its messages, must not wait for a peer."""


def wait_until(is_done: Callable[[], object], sources: Sequence[Source], timeout_s: float | None, busy_poll: BusyPoll) -> None:
    """Wait until `is_done()`, at most `timeout_s` seconds, reading the sources whenever nobody else does.

    What makes it true has to happen on this thread, to be a message of a source or its end, or to ring this thread's bell.
    A thread that handles a message reads no further ones, and waits for its bell alone.
    """
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    wait = _Wait(own_doorbell(), () if role.reads else sources)
    try:
        while not is_done():
            left_s = None if deadline_s is None else deadline_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                return
            wait.next(is_done, left_s, busy_poll)
    finally:
        wait.leave()


class _Wait:
    """One thread's wait, with the turns that it has."""

    __slots__ = ("_bell", "_read", "_unread")

    def __init__(self, bell: Doorbell, sources: Sequence[Source]) -> None:
        self._bell = bell
        self._read: dict[int, Source] = {}  # by file descriptor
        self._unread: list[Source] = []
        for source in sources:
            if source.turn.enter(bell):
                self._read[source.fileno()] = source
            else:
                self._unread.append(source)

    def next(self, is_done: Callable[[], object], timeout_s: float | None, busy_poll: BusyPoll) -> None:
        """Read what comes next, or return for another reason to ask whether the wait is over."""
        # Where nothing is read, another thread is to do something, and looking would only keep it from the interpreter.
        poll = self._bell.poller(tuple(self._read)).poll
        found = busy_poll.look(poll, is_done) if self._read else []
        for fd, _ in found or self._sleep(poll, is_done, timeout_s):
            source = self._read.get(fd)
            if source is None:
                self._bell.answer()
                self._take_free()
                continue
            source.read_as_waiter(len(self._read) == 1)
            if source.turn.is_stopped:
                # Its thread waits for the turn to clean up.
                self._drop(fd)
            else:
                source.turn.tell_others(self._bell)

    def leave(self) -> None:
        for source in self._read.values():
            source.turn.leave(self._bell, True)
        for source in self._unread:
            source.turn.leave(self._bell, False)

    def _sleep(self, poll: Callable[..., Found], is_done: Callable[[], object], timeout_s: float | None) -> Found:
        bell = self._bell
        bell.may_sleep = True
        try:
            if is_done() or self._take_free():
                return []
            return poll(None if timeout_s is None else int(timeout_s * 1000) + 1)
        finally:
            bell.may_sleep = False

    def _take_free(self) -> bool:
        """Take the turns that others have left; return whether there were any."""
        free = [source for source in self._unread if source.turn.take_free()]
        for source in free:
            self._unread.remove(source)
            self._read[source.fileno()] = source
        return bool(free)

    def _drop(self, fd: int) -> None:
        source = self._read.pop(fd)
        self._unread.append(source)
        source.turn.give_back(self._bell)

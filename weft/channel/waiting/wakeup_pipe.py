"""WakeupPipe: wakes a thread that sleeps until one of several descriptors is readable, for another reason."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from typing import Final

_MAX_POLLERS: Final = 64


class WakeupPipe:
    """A pipe to oneself (the self-pipe trick). Any thread may `wake`; the thread that it belongs to polls `fileno` and clears.

    `may_sleep` says that the owner is about to sleep, or does; waking costs a system call only then. So the owner sets it,
    looks once more whether there is a reason to stay awake, and only then sleeps.
    """

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        self._close = os.close  # which the module has lost when the last pipes go, at the interpreter's end
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self.may_sleep = False
        self.awaits_message = False
        """Whether each message that another thread handles is to wake the owner, which nobody else wakes when what it waits
        for has come. Of two steps on one connection each message woke both before."""
        self.pollers: dict[tuple[int, ...], select.poll] = {}  # those of `poller`, by its descriptors

    def __del__(self) -> None:
        self._close(self._read_end)
        self._close(self._write_end)

    def fileno(self) -> int:
        """The descriptor that becomes readable when the owner is woken."""
        return self._read_end

    def poller(self, fds: tuple[int, ...]) -> select.poll:
        """For the owner: return what polls these descriptors and the pipe. Kept: a thread waits for the same few each time."""
        found = self.pollers.get(fds)
        if found is None:
            if len(self.pollers) >= _MAX_POLLERS:
                self.pollers.clear()
            found = self.pollers[fds] = select.poll()
            for fd in (self._read_end, *fds):
                found.register(fd, select.POLLIN)
        return found

    def wake(self) -> None:
        """Wake the owner, if it sleeps. Does not wait."""
        if self.may_sleep:
            self.may_sleep = False
            with contextlib.suppress(BlockingIOError):  # a full pipe wakes as well
                os.write(self._write_end, b"\0")

    def clear(self) -> None:
        """For the owner: forget that it was woken."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._read_end, 4096)


class _OfThisThread(threading.local):
    """A pipe for each thread that asks, made at its first look: an attribute, which costs no call afterwards."""

    def __init__(self) -> None:
        self.pipe = WakeupPipe()


of_this_thread = _OfThisThread()
"""`of_this_thread.pipe` is the current thread's own pipe."""


def _forget() -> None:
    # A child that wrote to its parent's pipe, or cleared it, would take the parent's wake-ups.
    of_this_thread.pipe = WakeupPipe()


os.register_at_fork(after_in_child=_forget)

"""Doorbell: wakes a thread that sleeps until one of several sockets is readable, for a reason that comes from elsewhere."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from typing import Final

_MAX_POLLERS: Final = 64


class Doorbell:
    """A pipe to oneself. Any thread may ring; the thread that it belongs to polls `fileno` and answers.

    `may_sleep` says that the owner is about to sleep, or does; ringing costs a system call only then. So the owner sets it,
    looks once more whether there is a reason to stay awake, and only then sleeps.
    """

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self.may_sleep = False
        self._pollers: dict[tuple[int, ...], select.poll] = {}

    def __del__(self) -> None:
        os.close(self._read_end)
        os.close(self._write_end)

    def fileno(self) -> int:
        """What becomes readable when the bell rings."""
        return self._read_end

    def poller(self, fds: tuple[int, ...]) -> select.poll:
        """For the owner: what polls these descriptors and the bell. Kept: a thread waits for the same few again and again."""
        found = self._pollers.get(fds)
        if found is None:
            if len(self._pollers) >= _MAX_POLLERS:
                self._pollers.clear()
            found = self._pollers[fds] = select.poll()
            for fd in (self._read_end, *fds):
                found.register(fd, select.POLLIN)
        return found

    def ring(self) -> None:
        """Wake the owner, if it sleeps. Does not wait."""
        if self.may_sleep:
            self.may_sleep = False
            with contextlib.suppress(BlockingIOError):  # a full pipe wakes as well
                os.write(self._write_end, b"\0")

    def answer(self) -> None:
        """For the owner: forget that the bell has rung."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._read_end, 4096)


class _Bells(threading.local):
    own: Doorbell | None = None


_bells = _Bells()


def own_doorbell() -> Doorbell:
    """The bell of the current thread."""
    bell = _bells.own
    if bell is None:
        bell = _bells.own = Doorbell()
    return bell


def _forget() -> None:
    # A child that rang its parent's bell, or answered it, would take the parent's wake-ups.
    _bells.own = None


os.register_at_fork(after_in_child=_forget)

"""Waiting for a socket without sleeping, for a moment, where that has been worth it.

A thread that sleeps in the kernel lets its core go idle, and to wake an idle core takes an interrupt: a few microseconds on
bare metal, up to 40 µs in a virtual machine, for every message of a conversation. A thread that looks again and again for
that long has its message at once. It must not keep the core or the interpreter from those that work, so it offers both
with every look, and sleeps as soon as one was taken.
"""

from __future__ import annotations

import os
import select
import socket
import time
from typing import Final

LIMIT_S: Final = 100e-6
"""How long to look before sleeping: what a sleep may cost, times the two sides of a conversation."""

_TAKEN_S: Final = 20e-6  # a look takes 2 µs, unless another thread got the core or the interpreter meanwhile
_MAX_SKIPPED: Final = 64

_yield_core = getattr(os, "sched_yield", None)  # not on every platform; without it, a wait is a sleep


class BusyPoll:
    """Waits until one socket is readable. For one thread at a time.

    After a look in vain the next wait sleeps at once, after two the next three, and so on up to 64: who waits for rare messages
    spends next to nothing on looking, and a quick conversation is found soon.
    """

    __slots__ = ("_poll", "_skipped", "_to_skip")

    def __init__(self, sock: socket.socket) -> None:
        poller = select.poll()
        poller.register(sock, select.POLLIN)
        self._poll = poller.poll
        self._skipped = 0
        self._to_skip = 0

    def wait(self, timeout_s: float | None) -> bool:
        """Whether the socket has become readable, or has ended, within the time."""
        if self._to_skip:
            self._to_skip -= 1
        elif _yield_core is not None:
            if self._look():
                self._skipped = 0
                return True
            self._skipped = self._to_skip = min(2 * self._skipped + 1, _MAX_SKIPPED)
        return bool(self._poll(None if timeout_s is None else max(0, int(timeout_s * 1000) + 1)))

    def _look(self) -> bool:
        poll, yield_core, clock = self._poll, _yield_core, time.perf_counter
        assert yield_core is not None
        now = clock()
        end = now + LIMIT_S
        while not poll(0):
            yield_core()
            before, now = now, clock()
            if now > end or now - before > _TAKEN_S:
                return False
        return True

"""Waiting for messages without sleeping, for a moment, where that has been worth it.

A thread that sleeps in the kernel lets its core go idle, and to wake an idle core takes an interrupt: a few microseconds on
bare metal, up to 40 µs in a virtual machine, for every message of a conversation. A thread that looks again and again for
that long has its message at once. It must not keep the core or the interpreter from those that work, so it offers both
with every look, and sleeps as soon as one was taken.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

LIMIT_S: Final = 100e-6
"""How long to look before sleeping: what a sleep may cost, times the two sides of a conversation."""

_TAKEN_S: Final = 20e-6  # a look takes 2 µs, unless another thread got the core or the interpreter meanwhile
_MAX_SKIPPED: Final = 64

_yield_core = getattr(os, "sched_yield", None)  # not on every platform; without it, a wait is a sleep

Found = list[tuple[int, int]]
"""What `select.poll().poll` returns: descriptors and what happened to them."""


class BusyPoll:
    """Decides whether one kind of wait looks before it sleeps, by how it went before. Threads may share one.

    After a look in vain the next wait sleeps at once, after two the next three, and so on up to 64: who waits for rare messages
    spends next to nothing on looking, and a quick conversation is found soon.
    """

    __slots__ = ("_skipped", "_to_skip")

    def __init__(self) -> None:
        self._skipped = 0
        self._to_skip = 0

    def look(self, poll: Callable[[int], Found], is_due: Callable[[], object] | None = None) -> Found:
        """What `poll` finds within a moment; nothing if it is better to sleep now, or `is_due` came true."""
        if self._to_skip > 0:  # below, when threads that share it counted at once
            self._to_skip -= 1
            return []
        if _yield_core is None:
            return []
        found, is_worth_it = _look(poll, is_due, _yield_core)
        self._skipped = self._to_skip = 0 if is_worth_it else min(2 * self._skipped + 1, _MAX_SKIPPED)
        return found


def _look(
    poll: Callable[[int], Found], is_due: Callable[[], object] | None, yield_core: Callable[[], object]
) -> tuple[Found, bool]:
    clock = time.perf_counter
    now = clock()
    end = now + LIMIT_S
    while True:
        found = poll(0)
        if found or (is_due is not None and is_due()):
            return found, True
        yield_core()
        before, now = now, clock()
        if now > end or now - before > _TAKEN_S:
            return found, False

"""Busy polling: waiting for messages without sleeping, for a moment, where that has been worth it.

A thread that sleeps in the kernel lets its core go idle, and to wake an idle core takes an interrupt: a few microseconds on
bare metal, 40 to 150 µs in a virtual machine, for every message of a conversation. A thread that looks again and again for
that long has its message at once. It must not keep the core or the interpreter from those that work, so it offers both
with every look, and sleeps as soon as one was taken.

Measured in a virtual machine with two cores: two Python processes that toss 32 bytes to and fro on a Unix socket, each working
for 20 µs before it answers, lose 55 µs a round to sleeping; when they look for 100 µs before they sleep, 12 µs. A client's step
went from 143 to 44 µs by it, a step on a variable of another process from 195 to 116; training that computes for a millisecond
is as fast as without it, because looks in vain become rare.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final, TypeAlias

from weft.platform.waits.quick_lately import QuickLately

LIMIT_S: Final = 300e-6
"""The time to look before sleeping: the price of a sleep, times the two sides of a conversation.

It is that of the machine whose sleeps were dearest so far. With a lower limit both sides sleep there for good: the peer that
has to be woken answers later than that. Where sleeps cost less, an answer comes sooner, and looks in vain are rare either way.
With 100 µs, in alternation on an otherwise idle virtual machine of two cores of an AMD EPYC (November 2026), a step on a
variable of another process with its value took 122 and 301 µs instead of 98 and 169, one that reads 100 variables 508 and 610
instead of 343 and 424, one that reads 1 MB 488 and 527 instead of 286 and 415. Steps of training and of eight clients took as
long as before.
"""

_TAKEN_S: Final = 20e-6  # a look takes 2 µs, unless another thread got the core or the interpreter meanwhile

_yield_core = getattr(os, "sched_yield", None)  # not on every platform; without it, a wait is a sleep

Found: TypeAlias = list[tuple[int, int]]
"""The result of `select.poll().poll`: descriptors and what happened to them."""

Poll: TypeAlias = Callable[..., Found]
"""`select.poll().poll` and its like: waits so many milliseconds, for ever if None or nothing is said."""


def busy_poll(quick: QuickLately, poll: Poll, is_due: Callable[[], object] | None = None) -> Found:
    """Return what `poll` finds within a moment; nothing if it is better to sleep now, or `is_due` came true.

    `quick` decides whether to look at all, and is told how that went: one of `QuickLately()` for each kind of wait.
    """
    if quick.skips > 0:  # below, when threads that share it counted at once
        quick.skips -= 1
        return []
    if _yield_core is None:
        return []
    clock = time.perf_counter
    now = clock()
    end = now + LIMIT_S
    while True:
        found = poll(0)
        if found or (is_due is not None and is_due()):
            quick.note(True)
            return found
        _yield_core()
        before, now = now, clock()
        if now > end or now - before > _TAKEN_S:
            quick.note(False)
            return []

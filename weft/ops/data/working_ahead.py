"""WorkingAhead: whether a thread that takes elements beforehand saves time, by how long they take with and without it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

from weft.platform.machine.interpreter_turns import pieces_in_a_turn

ELEMENTS: Final = 16
"""So many are timed together."""
WINDOWS: Final = 4
"""Of so many times the least counts: a machine may be busy."""
_MOST_BETWEEN: Final = 64
"""At most so many times are taken between two looks at the way that was slower."""
_GAIN: Final = 0.9
"""The thread has to save a tenth of the time, for the processor time that handing elements over takes."""


class WorkingAhead:
    """Tells who makes the next elements: a thread beforehand, or whoever takes them. Not safe from several threads.

    Where the taker does next to nothing with the elements, a thread saves no time: its kernels and the taker's code have the
    interpreter in turns, and each element is handed over besides. Batches of 128 parsed records took 0.9 to 1.3 ms of CPU
    without it, and 1.2 to 2.2 with it, as threads then wait 6 to 14 times for each (two cores, December 2026). Nobody knows
    beforehand which it is, so either way is tried, the slower one ever more rarely.

    Args:
        only_computes: whether the elements are made by computing alone now: others are left to the thread.
        clock: gives seconds.
    """

    __slots__ = (
        "_begin_s", "_between", "_clock", "_count", "_left", "_only_computes", "_other_s", "_periods", "at_once", "is_ahead",
    )  # fmt: skip

    def __init__(self, only_computes: Callable[[], bool], clock: Callable[[], float] = time.perf_counter) -> None:
        self._only_computes = only_computes
        self._clock = clock
        self._count = 0
        self._begin_s = clock()
        self._periods: list[float] = []  # for an element, of the last windows
        self._other_s: float | None = None  # for an element the way that was left for a trial of this one
        self._between = 0  # windows between two trials
        self._left = 0
        self.is_ahead = True
        """Whether the thread makes the next elements."""
        self.at_once = 1
        """How many the taker makes in one go, else."""

    def note(self) -> None:
        """Note that an element was taken."""
        self._count += 1
        if self._count < ELEMENTS:
            return
        now_s = self._clock()
        period_s = (now_s - self._begin_s) / self._count
        self._begin_s, self._count = now_s, 0
        self.at_once = pieces_in_a_turn(period_s)
        if period_s >= sys.getswitchinterval() or not self._only_computes():
            # The taker has more to do than Python lets a thread compute before another gets the interpreter, or would wait.
            self._go(True, None)
            return
        self._periods.append(period_s)
        if len(self._periods) >= WINDOWS:
            self._compare(min(self._periods[-WINDOWS:]))

    def _go(self, is_ahead: bool, other_s: float | None) -> None:
        self.is_ahead, self._other_s = is_ahead, other_s
        self._periods.clear()

    def _compare(self, period_s: float) -> None:
        if self._other_s is None:
            self._left -= 1
            if self._left < 0:
                self._go(not self.is_ahead, period_s)
            return
        is_better = period_s < _GAIN * self._other_s if self.is_ahead else _GAIN * period_s <= self._other_s
        self._between = 0 if is_better else min(2 * self._between + 1, _MOST_BETWEEN)
        self._left = self._between
        self._go(self.is_ahead is is_better, None)

"""RunTimes: how often a stage ran, how long its runs take, and whether that is short."""

from __future__ import annotations

from typing import Final

from weft.runtime.choice.stage_report import Tally

_LONG_S: Final = 0.02
"""How long a run takes at least that is kept off the thread which waits for it. That costs up to 0.1 ms."""
TIMED_RUNS: Final = 16
"""One run in so many is timed: two looks at the clock cost a twentieth of the shortest run."""


class RunTimes:
    """The runs of one stage, on the host and compiled. A race loses a run's count.

    Args:
        is_short: whether runs take so little time that nobody who waits for one need be let go before its end, as far as the
            graph tells; the times of runs tell better.
        compiles_long: whether it will be compiled, which may take long: until then no run is short, since none knows whether it
            is the one that compiles.
    """

    __slots__ = ("_compiles_long", "_seems_long", "compiled", "host", "is_short", "runs")

    def __init__(self, is_short: bool, compiles_long: bool = False) -> None:
        self.is_short = is_short and not compiles_long
        self._compiles_long = compiles_long
        self.runs = 0
        self.host = Tally()
        self.compiled = Tally()
        self._seems_long = False

    def note_first(self, took_s: float) -> None:
        """Note how long the first compiled run took, its compilation apart."""
        self._compiles_long = False
        self.is_short = took_s < _LONG_S

    def note_host(self) -> None:
        """Note that it will not be compiled."""
        self._compiles_long = False

    def take_back(self) -> None:
        """Note that a run on the host has ended before it did anything, and begins anew later."""
        self.runs -= 1
        self.host.runs -= 1

    def note(self, took_s: float) -> None:
        """Note how long a run took. What has been short is long when two runs in a row are: a machine may be busy."""
        if self._compiles_long:
            return
        is_long = took_s >= _LONG_S
        if is_long and self.is_short and not self._seems_long:
            self._seems_long = True
            self.runs += TIMED_RUNS - 1  # so that the next run is timed
            return
        self._seems_long = False
        self.is_short = not is_long

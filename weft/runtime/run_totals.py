"""RunTotals: how often graphs have run and how long that took, by the counts that their stages keep anyway."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from weft.runtime.executor import Executor

_MOST: Final = 16


@dataclass(slots=True)
class RunTotals:
    """Sums over graphs. Seconds are those of the threads that ran stages, by the runs that were timed."""

    parts: int = 0
    host_s: float = 0.0
    compiled_s: float = 0.0
    compile_s: float = 0.0
    codes: int = 0
    """How many functions were compiled, one for each size of a stage's inputs."""

    def add(self, executor: Executor) -> None:
        """Count the runs of a graph."""
        self.parts += executor.runs
        for report in executor.explain():
            self.host_s += report.host_s
            self.compiled_s += report.compiled_s
            self.compile_s += report.compile_s
            self.codes += report.sizes

    def add_totals(self, others: RunTotals) -> None:
        """Count what others have counted."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(others, each.name))


def note_staleness(counts: list[int], late: int) -> None:
    """Count an update whose step began so many updates ago, among those of as many binary digits."""
    digits = min(late.bit_length(), _MOST)
    counts.extend([0] * (digits + 1 - len(counts)))
    counts[digits] += 1

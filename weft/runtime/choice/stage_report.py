"""StageReport: what one stage tells about itself, for `weft.explain`."""

from __future__ import annotations

from typing import Final, NamedTuple

COMPILING: Final = "compiling"
"""The way of a stage that goes on on the host while its first code is made."""


class StageReport(NamedTuple):
    """Which way a stage goes, and what that has cost.

    Times are of the thread that ran the stage, in seconds: XLA may still be computing when a compiled run returns. One run in
    16 is timed, and stands for the others. What tracing and compiling took is told apart.
    """

    task: str
    number: int
    device: str
    kind: str
    """What runs it by nature: `compiled`, `rows` or `host`."""
    nodes: str
    """The ops of its nodes, the most frequent first."""
    way: str
    why: str
    host_runs: int
    host_s: float
    compiled_runs: int
    compiled_s: float
    compile_s: float
    sizes: int
    """For how many sizes of its inputs there is code."""
    cached_sizes: int = 0
    """How many of these came from the folder of compiled code."""


def not_asked(task: str, why: str) -> StageReport:
    """What stands for the stages of a task that could not be asked."""
    return StageReport(task, -1, "", "", "", "not asked", why, 0, 0.0, 0, 0.0, 0.0, 0)


class Tally:
    """How often a stage ran one way and how long the runs took that were timed. A race loses a run's count."""

    __slots__ = ("runs", "timed_runs", "timed_s")

    def __init__(self) -> None:
        self.runs = 0
        self.timed_runs = 0
        self.timed_s = 0.0

    @property
    def total_s(self) -> float:
        """How long all runs took, by those that were timed."""
        return self.timed_s * self.runs / self.timed_runs if self.timed_runs else 0.0

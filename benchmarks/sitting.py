"""A sitting: the contenders take turns at every measure, for several rounds, beside the machine's own limits.

Turns are taken measure by measure and their order changes with each round, so a machine that drifts or a neighbour that
disturbs meets both alike. A ratio is formed within a round; the median over rounds is reported, with its spread.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from benchmarks import machine
from benchmarks.catalogue import ORIGINAL_FAMILIES, Measure
from benchmarks.contender import Contender, Outcome
from benchmarks.framework import ORIGINAL, WEFT
from benchmarks.machine import Limits

# One failure may be an accident of the machine; the second ends a contender's turns at that measure.
FAILURES_ALLOWED = 2


@dataclass(frozen=True)
class Spread:
    """A median over rounds, and the rounds' extremes."""

    median: float
    low: float
    high: float


@dataclass
class Row:
    """All outcomes of one measure, by contender, in the order of the rounds."""

    measure: Measure
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)

    def figure(self, contender: str) -> Spread | None:
        samples = (outcome.sample for outcome in self.outcomes.get(contender, ()))
        return spread(sample.value for sample in samples if sample is not None)

    def waits(self, contender: str) -> Spread | None:
        """Return how often the measuring process waited, per call or item, where calls were counted."""
        samples = (outcome.sample for outcome in self.outcomes.get(contender, ()))
        return spread(sample.waits for sample in samples if sample is not None and sample.waits is not None)

    def reason(self, contender: str) -> str | None:
        """Return why the contender has no figure, if it tried and has none."""
        outcomes = self.outcomes.get(contender, ())
        if any(outcome.sample for outcome in outcomes):
            return None
        return next((outcome.reason for outcome in reversed(outcomes)), None)

    def peer(self) -> str | None:
        """Return which TensorFlow is the better one here, by its median; None where none has a figure."""
        known = {name: figure.median for name in self.outcomes if name != WEFT and (figure := self.figure(name))}
        best = max if self.measure.unit.more_is_better else min
        return best(known, key=known.__getitem__) if known else None

    def ratio(self) -> Spread | None:
        """Return weft's figure over the better TensorFlow's, formed within each round that has both."""
        pairs = zip(self.outcomes.get(WEFT, ()), self.outcomes.get(self.peer() or "", ()), strict=False)
        return spread(ours.sample.value / theirs.sample.value for ours, theirs in pairs if ours.sample and theirs.sample)

    def may_run(self, contender: str) -> bool:
        if contender == ORIGINAL and self.measure.family not in ORIGINAL_FAMILIES:
            return False
        outcomes = self.outcomes.get(contender, [])
        return len(outcomes) < FAILURES_ALLOWED or any(outcome.sample for outcome in outcomes)


@dataclass
class Sitting:
    """The rows of a sitting and the limits measured in it, one set a round."""

    contenders: list[Contender]
    versions: dict[str, str]
    rows: list[Row]
    limits: list[Limits] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=machine.describe)

    def typical_limits(self) -> Limits:
        """Return the median of each limit over the rounds."""
        names = [each.name for each in fields(Limits)]
        return Limits(**{name: statistics.median(getattr(limits, name) for limits in self.limits) for name in names})


def spread(values: Iterable[float]) -> Spread | None:
    """Return the median and extremes of `values`, None if there are none."""
    known = list(values)
    return Spread(statistics.median(known), min(known), max(known)) if known else None


def hold(contenders: list[Contender], measures: list[Measure], *, rounds: int, tell: Callable[[str], None]) -> Sitting:
    """Run all measures `rounds` times; `tell` is given a line of progress for each, with how long its process took."""
    versions = {contender.name: contender.version() for contender in contenders}
    sitting = Sitting(contenders, versions, [Row(measure) for measure in measures])
    for round_ in range(rounds):
        tell(f"round {round_ + 1} of {rounds}: the machine's limits")
        sitting.limits.append(machine.measure())
        for row in sitting.rows:
            for contender in contenders if round_ % 2 == 0 else reversed(contenders):
                _take_turn(row, contender, tell)
    return sitting


def _take_turn(row: Row, contender: Contender, tell: Callable[[str], None]) -> None:
    if not row.may_run(contender.name):
        if contender.name in row.outcomes:
            row.outcomes[contender.name].append(row.outcomes[contender.name][-1])
        return
    outcomes = row.outcomes.setdefault(contender.name, [])
    started = time.monotonic()
    outcome = contender.run(row.measure)
    outcomes.append(outcome)
    result = f"{outcome.sample.value:.6g} {row.measure.unit.value}" if outcome.sample else outcome.reason
    tell(f"  {row.measure.name:<20} {contender.title:<11} {time.monotonic() - started:5.1f} s  {result}")

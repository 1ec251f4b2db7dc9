"""A sitting about growth: each curve is measured point by point, the contenders taking turns at each point.

A figure is the median over the rounds. Curves have claims of their own, which hold of weft or do not.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks import machine
from benchmarks.contender import Contender
from benchmarks.curves import CURVES, Curve, Panel
from benchmarks.framework import WEFT
from benchmarks.report import quantity
from benchmarks.timing import Point


@dataclass
class Grown:
    """What was found of a curve: for each contender the points of all rounds, and why others are missing."""

    curve: Curve
    found: dict[str, list[Point]] = field(default_factory=dict)
    reasons: dict[str, list[str]] = field(default_factory=dict)

    def points(self, contender: str) -> list[Point]:
        """Return one point for each size, its figures the medians over the rounds."""
        by_size: dict[int, list[Point]] = {}
        for point in self.found.get(contender, ()):
            by_size.setdefault(point.size, []).append(point)
        return [_median_point(size, by_size[size]) for size in sorted(by_size)]

    def holds(self, panel: Panel) -> bool | None:
        """Return whether a panel's claim holds of weft; None where it has no points, or not all of them."""
        points = self.points(WEFT)
        return panel.claim.holds(points) if points and not self.reasons.get(WEFT) else None


def _median_point(size: int, points: list[Point]) -> Point:
    names = points[0].figures
    return Point(size, {name: statistics.median(point.figures[name] for point in points) for name in names})


@dataclass
class Growth:
    """All curves of a sitting."""

    versions: dict[str, str]
    rounds: int
    curves: list[Grown]
    machine: dict[str, Any] = field(default_factory=machine.describe)


def hold(contenders: list[Contender], curves: list[Curve], *, rounds: int, tell: Callable[[str], None]) -> Growth:
    """Measure every point of every curve `rounds` times; `tell` is given a line of progress for each."""
    growth = Growth({each.name: each.version() for each in contenders}, rounds, [Grown(curve) for curve in curves])
    for round_ in range(rounds):
        tell(f"round {round_ + 1} of {rounds}")
        for grown in growth.curves:
            for size in grown.curve.sizes:
                for contender in contenders if round_ % 2 == 0 else reversed(contenders):
                    _take_turn(grown, size, contender, tell)
    return growth


def _take_turn(grown: Grown, size: int, contender: Contender, tell: Callable[[str], None]) -> None:
    curve = grown.curve
    answer = contender.ask(curve.program, size, time_limit_s=curve.time_limit_s)
    if answer.message is None:
        grown.reasons.setdefault(contender.name, []).append(f"{size:,} {curve.along}: {answer.reason}")
        tell(f"  {curve.name:<10} {size:>12,} {contender.title:<11} {answer.reason}")
        return
    points = [Point(**point) for point in answer.message["points"]]
    grown.found.setdefault(contender.name, []).extend(points)
    last = ", ".join(f"{name} {value:.6g}" for name, value in points[-1].figures.items())
    tell(f"  {curve.name:<10} {size:>12,} {contender.title:<11} {last}")


def in_words(growth: Growth) -> str:
    """Lay every panel out as text, a line for each size, and say whether its claim holds."""
    text = []
    for grown in growth.curves:
        for panel in grown.curve.panels:
            text += [f"{panel.title}, against {grown.curve.along}", *_lines(growth, grown, panel), _verdict(grown, panel), ""]
        text += [f"{name} failed at {reason}" for name, reasons in grown.reasons.items() for reason in reasons]
    return "\n".join(text)


def _lines(growth: Growth, grown: Grown, panel: Panel) -> list[str]:
    columns: dict[str, dict[int, str]] = {}
    for contender in growth.versions:
        for figure, label in panel.figures.items():
            columns[f"{contender} {label}"] = {
                point.size: quantity(point.figures[figure], panel.unit) for point in grown.points(contender)
            }
    sizes = sorted({size for column in columns.values() for size in column})
    heading = "  ".join([f"{'':>12}", *(f"{title:>18}" for title in columns)])
    lines = ["  ".join([f"{size:>12,}", *(f"{column.get(size, '-'):>18}" for column in columns.values())]) for size in sizes]
    return [heading, *lines]


def _verdict(grown: Grown, panel: Panel) -> str:
    verdict = {True: "holds", False: "BROKEN", None: "not known"}[grown.holds(panel)]
    return f"  {panel.claim.text}: {verdict}"


def as_json(growth: Growth) -> dict[str, Any]:
    """Return all points of all rounds, and what held of them; `from_json` reads it back."""
    return {
        "versions": growth.versions,
        "rounds": growth.rounds,
        "machine": growth.machine,
        "curves": {
            grown.curve.name: {
                "along": grown.curve.along,
                "found": {name: [asdict(point) for point in points] for name, points in grown.found.items()},
                "reasons": grown.reasons,
                "claims": [
                    {"panel": panel.title, "claim": panel.claim.text, "holds": grown.holds(panel)}
                    for panel in grown.curve.panels
                ],
            }
            for grown in growth.curves
        },
    }


def from_json(document: dict[str, Any]) -> Growth:
    """Return the sitting that `as_json` wrote; curves that no longer exist are left out."""
    curves = [
        Grown(
            curve,
            {name: [Point(**point) for point in points] for name, points in written["found"].items()},
            written["reasons"],
        )
        for curve in CURVES
        if (written := document["curves"].get(curve.name))
    ]
    return Growth(document["versions"], document["rounds"], curves, document["machine"])

"""The picture of a sitting: how many times faster, or smaller, weft is than TensorFlow, one bar a measure.

Bars are on a logarithmic scale and start at equal: to the right weft is better, to the left TensorFlow is. The whisker
spans the rounds. The colours hold on light and dark pages.
"""

from __future__ import annotations

import math
from html import escape

from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.report import quantity
from benchmarks.sitting import Row, Sitting, Spread

WIDTH, LABELS, FIGURES, ROW, TOP, BOTTOM = 980, 340, 240, 24, 58, 34
BETTER, WORSE, INK, FAINT = "#2a9d63", "#d1603d", "#7a7f87", "#7a7f8755"
_TICKS = (0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 50)


def advantage(row: Row) -> Spread | None:
    """Return how many times better weft is, above one, or below one where it is worse."""
    ratio = row.ratio()
    if ratio is None:
        return None
    if row.measure.unit.more_is_better:
        return ratio
    return Spread(1 / ratio.median, 1 / ratio.high, 1 / ratio.low)


def draw(sitting: Sitting) -> str:
    """Return the SVG; rows that lack either figure are left out."""
    bars = [(row, times) for row in sitting.rows if (times := advantage(row))]
    axis = _Axis([times for _, times in bars])
    height = TOP + ROW * len(bars) + BOTTOM
    versions = " and ".join(f"{contender.title} {sitting.versions[contender.name]}" for contender in sitting.contenders)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}" role="img">',
        "<title>How many times better weft is than TensorFlow</title>",
        f'<text x="0" y="18" font-size="16" font-weight="600">How many times better: {escape(versions)}</text>',
        *_ticks(axis, height),
        *(part for index, bar in enumerate(bars) for part in _bar(axis, TOP + ROW * index, *bar)),
        f'<text x="0" y="{height - 8}" font-size="11">Median of {len(sitting.limits)} rounds in alternation; '
        "whiskers span the rounds; logarithmic scale</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


class _Axis:
    """Where a factor lies between the labels and the figures, in pixels."""

    def __init__(self, values: list[Spread]) -> None:
        self.low = min([0.8, *(each.low for each in values)])
        self.high = max([2.0, *(each.high for each in values)]) * 1.1

    def x(self, factor: float) -> float:
        share = math.log(factor / self.low) / math.log(self.high / self.low)
        return LABELS + share * (WIDTH - LABELS - FIGURES)

    def ticks(self) -> list[float]:
        return [tick for tick in _TICKS if self.low <= tick <= self.high]


def _ticks(axis: _Axis, height: int) -> list[str]:
    parts = []
    for tick in axis.ticks():
        x, stroke = axis.x(tick), INK if tick == 1 else FAINT
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - BOTTOM}" stroke="{stroke}"/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="middle" font-size="11">{tick:g}x</text>')
    return parts


def _bar(axis: _Axis, y: float, row: Row, times: Spread) -> list[str]:
    start, end = sorted((axis.x(1), axis.x(times.median)))
    middle = y + ROW / 2
    colour = BETTER if times.median >= 1 else WORSE
    return [
        f'<text x="{LABELS - 10}" y="{middle + 4:.1f}" text-anchor="end">{escape(row.measure.title)}</text>',
        f'<rect x="{start:.1f}" y="{y + 4:.1f}" width="{max(end - start, 1):.1f}" height="{ROW - 8}" fill="{colour}"/>',
        f'<line x1="{axis.x(times.low):.1f}" x2="{axis.x(times.high):.1f}" y1="{middle:.1f}" y2="{middle:.1f}" '
        f'stroke="{INK}"/>',
        f'<text x="{WIDTH - FIGURES + 10}" y="{middle + 4:.1f}"><tspan font-weight="600">{times.median:.1f}x</tspan> '
        f"{escape(_figures(row))}</text>",
    ]


def _figures(row: Row) -> str:
    ours, theirs = row.figure(WEFT), row.figure(TENSORFLOW)
    if ours is None or theirs is None:
        return ""
    return f"{quantity(ours.median, row.measure.unit)} / {quantity(theirs.median, row.measure.unit)}"

"""Small pictures in SVG, drawn where the numbers are: lines over time, bars, and cells whose colour is a number."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

_EMPTY: Final = '<svg class="line" role="img" aria-label="no values yet"></svg>'


def line(values: Sequence[float], label: str, *, width: int = 160, height: int = 32, colour: str = "var(--line)") -> str:
    """Values over time as a line above a filled area, from zero to the largest; what was last is at the right."""
    if len(values) < 2:
        return _EMPTY
    most = max(values) or 1.0
    step = width / (len(values) - 1)
    points = " ".join(f"{i * step:.1f},{height - 1 - value / most * (height - 3):.1f}" for i, value in enumerate(values))
    return (
        f'<svg class="line" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}"><title>{escape(label)}</title>'
        f'<polygon points="0,{height} {points} {width},{height}" fill="{colour}" opacity="0.18"/>'
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/></svg>'
    )


def bar(share: float, label: str, *, width: int = 120, colour: str = "var(--bar)") -> str:
    """A part of a whole, 0 to 1."""
    filled = max(min(share, 1.0), 0.0) * width
    return (
        f'<svg class="bar" width="{width}" height="10" role="img" aria-label="{escape(label)}"><title>{escape(label)}</title>'
        f'<rect width="{width}" height="10" rx="2" fill="var(--track)"/>'
        f'<rect width="{filled:.1f}" height="10" rx="2" fill="{colour}"/></svg>'
    )


def stacked(shares: Sequence[tuple[str, float, str]], *, width: int = 200) -> str:
    """Several parts beside each other: names, shares of the whole from 0 to 1, and colours."""
    x, pieces = 0.0, []
    for name, share, colour in shares:
        size = max(min(share, 1.0), 0.0) * width
        title = f"{escape(name)} {share:.0%}"
        pieces.append(f'<rect x="{x:.1f}" width="{size:.1f}" height="12" fill="{colour}"><title>{title}</title></rect>')
        x += size
    track = f'<rect width="{width}" height="12" fill="var(--track)"/>'
    return f'<svg class="bar" width="{width}" height="12">{track}{"".join(pieces)}</svg>'


def histogram(counts: Sequence[tuple[str, int]], label: str, *, width: int = 260, height: int = 70) -> str:
    """Counts by bucket, as columns with the buckets' names below."""
    if not counts:
        return ""
    most = max(count for _, count in counts) or 1
    each = width / len(counts)
    columns = []
    for i, (name, count) in enumerate(counts):
        tall = count / most * (height - 16)
        columns.append(
            f'<rect x="{i * each + 1:.1f}" y="{height - 14 - tall:.1f}" width="{each - 2:.1f}" height="{tall:.1f}" '
            f'fill="var(--bar)"><title>{escape(name)}: {count}</title></rect>'
            f'<text x="{(i + 0.5) * each:.1f}" y="{height - 3}" text-anchor="middle">{escape(name)}</text>'
        )
    size = f'width="{width}" height="{height}"'
    return f'<svg class="columns" {size} role="img" aria-label="{escape(label)}">{"".join(columns)}</svg>'


def cell(share: float, text: str) -> str:
    """A table's cell, the darker the larger the share of 0 to 1."""
    strength = max(min(share, 1.0), 0.0)
    return f'<td class="n" style="background:rgba(var(--heat),{strength * 0.75:.2f})">{escape(text)}</td>'

"""SVG pictures that read on light and on dark pages: shapes take their colours from classes, and the card behind them does too.

Coordinates are pixels from the top left. A picture carries its style, so it looks the same wherever it is shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Final

_LIGHT: Final = {
    "card": "#ffffff",
    "edge": "#d5dbe3",
    "ink": "#1b2430",
    "muted": "#5b6675",
    "grid": "#e8ecf1",
    "axis": "#9aa5b4",
    "weft": "#2563eb",
    "peer": "#c2620c",
    "weft-soft": "#7fa5f0",
    "peer-soft": "#d99d68",
}
_DARK: Final = {
    "card": "#0f1620",
    "edge": "#2b3646",
    "ink": "#e6ebf2",
    "muted": "#9ba8b9",
    "grid": "#1f2936",
    "axis": "#5a6879",
    "weft": "#6ea0ff",
    "peer": "#f0a04b",
    "weft-soft": "#4a73bd",
    "peer-soft": "#a8703a",
}
COLOURS: Final = tuple(_LIGHT)
_FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"


def _style() -> str:
    light, dark = (";".join(f"--{name}:{value}" for name, value in theme.items()) for theme in (_LIGHT, _DARK))
    # Renderers without custom properties or media queries fall back on the light colours, given first.
    fallback = "".join(f".{name}{{fill:{value}}}.{name}-line{{stroke:{value}}}" for name, value in _LIGHT.items())
    turning = "".join(f".{name}{{fill:var(--{name})}}.{name}-line{{stroke:var(--{name})}}" for name in _LIGHT)
    supported = f"@supports (color:var(--x)){{svg{{{light}}}{turning}}}"
    return f"{fallback}{supported}@media (prefers-color-scheme:dark){{svg{{{dark}}}}}"


class Drawing:
    """A picture under construction; `title` and `description` are for those who do not see it."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self._width, self._height = width, height
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-labelledby="title text" font-family="{_FONT}" font-size="12.5">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="text">{escape(description)}</desc>',
            f"<style>{_style()}</style>",
        ]
        self.box(0.5, 0.5, width - 1, height - 1, "card", "edge", radius=12)

    def text(
        self, x: float, y: float, words: str, colour: str = "ink", *, anchor: str = "start", size: float = 0, bold: bool = False
    ) -> None:
        """Write words whose baseline is at `y`."""
        extra = f' text-anchor="{anchor}"' if anchor != "start" else ""
        extra += f' font-size="{size:g}"' if size else ""
        extra += ' font-weight="600"' if bold else ""
        self._parts.append(f'<text class="{colour}" x="{x:.1f}" y="{y:.1f}"{extra}>{escape(words)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str, *, width: float = 1) -> None:
        self._parts.append(
            f'<line class="{colour}-line" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width:g}"/>'
        )

    def box(self, x: float, y: float, width: float, height: float, fill: str, edge: str = "", *, radius: float = 0) -> None:
        classes = f"{fill} {edge}-line" if edge else fill
        rounded = f' rx="{radius:g}"' if radius else ""
        self._parts.append(
            f'<rect class="{classes}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{rounded}/>'
        )

    def dot(self, x: float, y: float, colour: str, *, radius: float = 3) -> None:
        self._parts.append(f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>')

    def path(self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 2, dashes: str = "") -> None:
        """Draw straight lines from point to point."""
        where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(
            f'<polyline class="{colour}-line" points="{where}" fill="none" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{dashed}/>'
        )

    def __str__(self) -> str:
        return "\n".join([*self._parts, "</svg>", ""])


class Scale:
    """Where a value lies between two pixels; `low` and `high` are the values at `start` and `end`."""

    def __init__(self, low: float, high: float, start: float, end: float, *, is_logarithmic: bool) -> None:
        self.low, self.high = low, high
        self._start, self._end = start, end
        self._is_logarithmic = is_logarithmic

    def __call__(self, value: float) -> float:
        if self._is_logarithmic:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self._start + share * (self._end - self._start)

    def powers_of_ten(self) -> list[float]:
        """Return the powers of ten from `low` to `high`, ends included up to rounding."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return [10.0**power for power in range(first, last + 1)]

    def round_steps(self, about: int) -> list[float]:
        """Return evenly spaced round values from `low` to `high`, roughly so many."""
        raw = (self.high - self.low) / about
        magnitude = 10.0 ** math.floor(math.log10(raw))
        step = next(factor * magnitude for factor in (1, 2, 2.5, 5, 10) if factor * magnitude >= raw)
        first = math.ceil(self.low / step - 1e-9)
        return [step * n for n in range(first, math.floor(self.high / step + 1e-9) + 1)]

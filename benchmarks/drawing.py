"""What the pictures have in common: matplotlib figures as SVG, whose colours turn with the colour scheme of the page.

Words stay words in the file. A picture is the same file each time that it is drawn of the same figures.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Final

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS: Final = {
    "card": "#ffffff", "edge": "#d5dbe3", "ink": "#1b2430", "muted": "#5b6675", "grid": "#e8ecf1", "axis": "#9aa5b4",
    "weft": "#2563eb", "peer": "#c2620c", "weft-soft": "#7fa5f0", "peer-soft": "#d99d68",
}  # fmt: skip
"""The colours of light pages by name; those of dark pages take their places there."""

_DARK: Final = {
    "card": "#0f1620", "edge": "#2b3646", "ink": "#e6ebf2", "muted": "#9ba8b9", "grid": "#1f2936", "axis": "#5a6879",
    "weft": "#6ea0ff", "peer": "#f0a04b", "weft-soft": "#4a73bd", "peer-soft": "#a8703a",
}  # fmt: skip
_DOTS_PER_INCH: Final = 72.0  # SVG's points, so that sizes below are pixels
SETTINGS: Final = {
    "figure.dpi": _DOTS_PER_INCH, "svg.fonttype": "none", "svg.hashsalt": "weft", "font.size": 12, "font.family": "sans-serif",
    "text.color": COLOURS["ink"], "axes.labelcolor": COLOURS["muted"], "axes.edgecolor": COLOURS["axis"],
    "axes.facecolor": "none", "axes.spines.top": False, "axes.spines.right": False, "axes.spines.left": False,
    "axes.axisbelow": True, "axes.labelsize": 11, "grid.color": COLOURS["grid"], "lines.linewidth": 2,
    "xtick.color": COLOURS["axis"], "xtick.labelcolor": COLOURS["muted"], "xtick.labelsize": 11, "xtick.minor.size": 0,
    "ytick.left": False, "ytick.minor.left": False, "ytick.labelcolor": COLOURS["muted"], "ytick.labelsize": 11,
}  # fmt: skip


class Picture:
    """A figure under construction, in pixels; `title` and `description` are for those who do not see it."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self._title, self._description = title, description
        self._width, self._height = width, height
        size = (width / _DOTS_PER_INCH, height / _DOTS_PER_INCH)
        self.figure = Figure(size, facecolor=COLOURS["card"], edgecolor=COLOURS["edge"], linewidth=1)

    def axes(self, left: float, top: float, right: float, bottom: float) -> Axes:
        """Axes between these pixels, counted from the top left."""
        share = (left / self._width, 1 - bottom / self._height, (right - left) / self._width, (bottom - top) / self._height)
        return self.figure.add_axes(share)

    def text(self, x: float, y: float, words: str, colour: str = "ink", *, size: float = 12, bold: bool = False) -> None:
        """Write words whose baseline begins at these pixels."""
        weight = "bold" if bold else "normal"
        place = (x / self._width, 1 - y / self._height)
        self.figure.text(*place, words, color=COLOURS[colour], fontsize=size, fontweight=weight)

    def __str__(self) -> str:
        file = io.StringIO()
        self.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
        svg = file.getvalue()
        told = f"<title>{escape(self._title)}</title>\n<desc>{escape(self._description)}</desc>\n<style>{_turning()}</style>\n"
        root = re.search(r"<svg [^>]*>\n", svg)
        assert root is not None
        # Points, which matplotlib measures in, are a third larger than the pixels that sizes are told in.
        head = re.sub(r'="([\d.]+)pt"', r'="\1"', root[0]).replace("<svg ", '<svg role="img" ')
        return head + told + svg[root.end() :]


@contextmanager
def style() -> Iterator[None]:
    """Draw in the pictures' style meanwhile."""
    with matplotlib.rc_context(SETTINGS):
        yield


def _turning() -> str:
    """Rules for dark pages: matplotlib writes colours into each shape, which a rule beats only if it says so."""
    rules = [
        f'[style*="{what}: {light}"]{{{what}:{_DARK[name]} !important}}'
        for name, light in COLOURS.items()
        for what in ("fill", "stroke")
    ]
    return f"@media (prefers-color-scheme:dark){{{''.join(rules)}}}"

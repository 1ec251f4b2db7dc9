"""The picture of a sitting about growth: a small plot for each panel, all with the same two colours."""

from __future__ import annotations

from benchmarks.catalogue import Unit
from benchmarks.curves import Panel
from benchmarks.drawing import Drawing, Scale
from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.growth import Grown, Growth
from benchmarks.report import quantity
from benchmarks.timing import Point

WIDTH, COLUMNS, PLOT_HEIGHT, TOP, BOTTOM, MARGIN = 1000, 3, 252, 78, 34, 20
_LEFT, _RIGHT, _ABOVE, _BELOW = 60, 58, 48, 46  # between a plot's cell and its axes
_COLOURS = {WEFT: ("weft", "weft-soft"), TENSORFLOW: ("peer", "peer-soft")}
_FULL = tuple(full for full, _ in _COLOURS.values())
_TITLES = {WEFT: "weft", TENSORFLOW: "TensorFlow"}
_LABEL_GAP = 14

Line = tuple[str, str, list[tuple[int, float]]]  # label, colour, points


def draw(growth: Growth) -> str:
    """Return the SVG; panels without points are left out."""
    panels = [(grown, panel) for grown in growth.curves for panel in grown.curve.panels if _lines(growth, grown, panel)]
    rows = -(-len(panels) // COLUMNS)
    height = TOP + rows * PLOT_HEIGHT + BOTTOM
    described = "; ".join(f"{panel.title}, against {grown.curve.along}" for grown, panel in panels)
    picture = Drawing(WIDTH, height, "How cost grows", described)
    _head(picture, growth)
    cell = (WIDTH - 2 * MARGIN) / COLUMNS
    for index, (grown, panel) in enumerate(panels):
        x, y = MARGIN + index % COLUMNS * cell, TOP + index // COLUMNS * PLOT_HEIGHT
        _Plot(picture, grown, panel, _lines(growth, grown, panel), x, y, cell).draw()
    how = f"median of {growth.rounds} rounds" if growth.rounds > 1 else "one round"
    words = f"{growth.machine['cores']} cores, {growth.machine['architecture']}, CPU; {how}"
    picture.text(MARGIN, height - 14, words, "muted", size=11.5)
    return str(picture)


def _head(picture: Drawing, growth: Growth) -> None:
    picture.text(MARGIN, 32, "How cost grows", size=17, bold=True)
    x = float(MARGIN)
    for name in growth.versions:
        colour = _COLOURS[name][0]
        picture.line(x, 54, x + 22, 54, colour, width=2.5)
        picture.dot(x + 11, 54, colour)
        picture.text(x + 30, 58, f"{_TITLES[name]} {growth.versions[name]}", "muted")
        x += 190


def _lines(growth: Growth, grown: Grown, panel: Panel) -> list[Line]:
    """Return what a panel shows: the first figure of each contender in full colour, a second one softer."""
    lines = []
    for contender in growth.versions:
        points = grown.points(contender)
        for colour, (figure, label) in zip(_COLOURS[contender], panel.figures.items(), strict=False):
            if points:
                lines.append((label, colour, [_value(point, figure) for point in points]))
    known = grown.points(WEFT)
    if panel.reference and known:
        figure, label = panel.reference
        lines.append((label, "axis", [_value(point, figure) for point in known]))
    return lines


def _value(point: Point, figure: str) -> tuple[int, float]:
    return point.size, point.figures[figure]


class _Plot:
    """One panel in its cell, whose top left corner is at `x`, `y`."""

    def __init__(
        self, picture: Drawing, grown: Grown, panel: Panel, lines: list[Line], x: float, y: float, width: float
    ) -> None:
        self._picture, self._grown, self._panel, self._lines = picture, grown, panel, lines
        self._left, self._right = x + _LEFT, x + width - _RIGHT
        self._top, self._bottom = y + _ABOVE, y + PLOT_HEIGHT - _BELOW
        self._sizes = sorted({size for *_, points in lines for size, _ in points})
        first, last = float(self._sizes[0]), float(self._sizes[-1])
        # Looks on the way to one size are evenly spaced; sizes of their own are far apart.
        self._is_even = len(grown.curve.sizes) == 1
        low, high = (0.0, last) if self._is_even else (first, max(last, first * 2))
        self._x = Scale(low, high, self._left, self._right, is_logarithmic=not self._is_even)
        self._y = self._value_scale()

    def _value_scale(self) -> Scale:
        values = [value for *_, points in self._lines for _, value in points]
        if self._panel.is_logarithmic:
            low, high = max(min(values), max(values) * 1e-6), max(values)
            while high / low < 30:  # else the noise of a flat curve would fill the plot
                low, high = low / 1.3, high * 1.3
            return Scale(low / 1.25, high * 1.25, self._bottom, self._top, is_logarithmic=True)
        return Scale(0.0, max([*values, 1.0]) * 1.12, self._bottom, self._top, is_logarithmic=False)

    def draw(self) -> None:
        picture = self._picture
        picture.text(self._left - _LEFT + 4, self._top - 24, self._panel.title, bold=True)
        self._claim()
        self._grid()
        for _, colour, points in reversed(self._lines):
            places = [(self._x(size), self._y(value)) for size, value in points]
            picture.path(places, colour, dashes="" if colour in _FULL else "4 3")
            for x, y in places:
                picture.dot(x, y, colour, radius=2.6)
        self._labels()

    def _claim(self) -> None:
        held = self._grown.holds(self._panel)
        if held is not None:
            words = f"{self._panel.claim.text}{'' if held else ': not reached'}"
            self._picture.text(self._left - _LEFT + 4, self._top - 9, words, "muted" if held else "ink", size=11)

    def _grid(self) -> None:
        picture = self._picture
        ticks = self._y.powers_of_ten() if self._panel.is_logarithmic else self._y.round_steps(4)
        for tick in ticks:
            y = self._y(tick)
            picture.line(self._left, y, self._right, y, "grid")
            picture.text(self._left - 8, y + 4, _short(tick, self._panel.unit), "muted", anchor="end", size=11)
        picture.line(self._left, self._bottom, self._right, self._bottom, "axis")
        for size in self._shown_sizes():
            x = self._x(size)
            picture.line(x, self._bottom, x, self._bottom + 4, "axis")
            picture.text(x, self._bottom + 16, _size(size, self._grown.curve.along), "muted", anchor="middle", size=11)
        middle = (self._left + self._right) / 2
        picture.text(middle, self._bottom + 31, self._grown.curve.along, "muted", anchor="middle", size=11)

    def _shown_sizes(self) -> list[int]:
        return self._sizes[1::2] if self._is_even else self._sizes

    def _labels(self) -> None:
        """Name each line at its end where a panel has several of a colour, moving names apart that would lie on each other."""
        if len(self._panel.figures) == 1 and not self._panel.reference:
            return
        lowest = self._top - _LABEL_GAP
        for label, colour, points in sorted(self._lines, key=lambda line: self._y(line[2][-1][1])):
            lowest = max(self._y(points[-1][1]) + 4, lowest + _LABEL_GAP)
            self._picture.text(self._right + 8, lowest, label, _label_colour(colour), size=11)


def _label_colour(colour: str) -> str:
    """Return a colour in which small words can be read on the card."""
    return "muted" if colour == "axis" else colour.removesuffix("-soft")


def _short(value: float, unit: Unit) -> str:
    if value == 0:
        return "0"
    if unit is Unit.SHARE:
        return f"{value:g}"
    number, _, suffix = quantity(value, unit).partition(" ")
    return f"{float(number):g} {suffix}"


def _size(size: int, along: str) -> str:
    """Print a size short: 16, 1,000, 100k; bytes in powers of two."""
    if along.startswith("bytes"):
        return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"
    return f"{size // 1000}k" if size >= 10_000 and size % 1000 == 0 else f"{size:,}"

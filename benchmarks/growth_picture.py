"""The picture of a sitting about growth: a small plot for each panel, all with the same two colours."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from benchmarks.catalogue import Unit
from benchmarks.curves import Panel
from benchmarks.drawing import COLOURS, Picture, style
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
    cell = (WIDTH - 2 * MARGIN) / COLUMNS
    with style():
        picture = Picture(WIDTH, height, "How cost grows", described)
        picture.text(MARGIN, 32, "How cost grows", size=17, bold=True)
        for index, name in enumerate(growth.versions):
            picture.text(MARGIN + 190 * index, 58, "●", _COLOURS[name][0])
            picture.text(MARGIN + 190 * index + 20, 58, f"{_TITLES[name]} {growth.versions[name]}", "muted")
        for index, (grown, panel) in enumerate(panels):
            x, y = MARGIN + index % COLUMNS * cell, TOP + index // COLUMNS * PLOT_HEIGHT
            picture.text(x + 4, y + _ABOVE - 24, panel.title, bold=True)
            _claim(picture, grown, panel, x + 4, y + _ABOVE - 9)
            _plot(picture.axes(x + _LEFT, y + _ABOVE, x + cell - _RIGHT, y + PLOT_HEIGHT - _BELOW), growth, grown, panel)
        how = f"median of {growth.rounds} rounds" if growth.rounds > 1 else "one round"
        words = f"{growth.machine['cores']} cores, {growth.machine['architecture']}, CPU; {how}"
        picture.text(MARGIN, height - 14, words, "muted", size=11)
        return str(picture)


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


def _claim(picture: Picture, grown: Grown, panel: Panel, x: float, y: float) -> None:
    held = grown.holds(panel)
    if held is not None:
        words = f"{panel.claim.text}{'' if held else ': not reached'}"
        picture.text(x, y, words, "muted" if held else "ink", size=11)


def _plot(axes: Axes, growth: Growth, grown: Grown, panel: Panel) -> None:
    lines = _lines(growth, grown, panel)
    for _, colour, points in reversed(lines):
        dashes = "-" if colour in _FULL else "--"
        axes.plot(*zip(*points, strict=True), dashes, color=COLOURS[colour], marker="o", markersize=5, clip_on=False)
    _scale_sizes(axes, grown, sorted({size for *_, points in lines for size, _ in points}))
    _scale_values(axes, panel, [value for *_, points in lines for _, value in points])
    axes.grid(axis="y")
    if len(panel.figures) > 1 or panel.reference:
        _name_lines(axes, lines)


def _scale_sizes(axes: Axes, grown: Grown, sizes: list[int]) -> None:
    # Looks on the way to one size are evenly spaced; sizes of their own are far apart.
    is_even = len(grown.curve.sizes) == 1
    first, last = sizes[0], sizes[-1]
    axes.set_xscale("linear" if is_even else "log")
    axes.set_xlim(0 if is_even else first, last if is_even else max(last, first * 2))
    shown = sizes[1::2] if is_even else sizes
    axes.set_xticks(shown, [_size(size, grown.curve.along) for size in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel(grown.curve.along)


def _scale_values(axes: Axes, panel: Panel, values: list[float]) -> None:
    if panel.is_logarithmic:
        low, high = max(min(values), max(values) * 1e-6), max(values)
        while high / low < 30:  # else the noise of a flat curve would fill the plot
            low, high = low / 1.3, high * 1.3
        axes.set_yscale("log")
        axes.set_ylim(low / 1.25, high * 1.25)
        axes.yaxis.set_major_locator(LogLocator())
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        axes.set_ylim(0, max([*values, 1.0]) * 1.12)
        axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value, panel.unit)))


def _name_lines(axes: Axes, lines: list[Line]) -> None:
    """Name each line at its end, moving names apart that would lie on each other."""
    highest = float("-inf")
    for label, colour, points in sorted(lines, key=lambda line: line[2][-1][1]):
        _, pixel = axes.transData.transform(points[-1])
        highest = max(float(pixel), highest + _LABEL_GAP)
        words = "muted" if colour == "axis" else colour.removesuffix("-soft")  # colours in which small words can be read
        axes.annotate(
            label, points[-1], (8, highest - float(pixel)), "data", "offset pixels",
            color=COLOURS[words], fontsize=11, va="center", annotation_clip=False,
        )  # fmt: skip


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

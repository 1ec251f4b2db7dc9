"""The picture of a sitting: how many times better weft is than TensorFlow, one bar a measure.

Bars are on a logarithmic scale and start at equal: to the right weft is better, to the left TensorFlow is. The whisker
spans the rounds; the small mark is the goal.
"""

from __future__ import annotations

from benchmarks.catalogue import Measure
from benchmarks.drawing import Drawing, Scale
from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.report import quantity
from benchmarks.sitting import Row, Sitting, Spread

WIDTH, LABELS, FIGURES, ROW, GROUP, TOP, BOTTOM = 1020, 384, 250, 25, 30, 96, 46
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_GROUPS = {
    "start_up": "Starting and building",
    "graph_building": "Starting and building",
    "local_runs": "Runs in one process",
    "training_steps": "Training in one process",
    "sessions": "Sessions on a server",
    "remote_variables": "Variables of another process",
    "asynchronous_training": "Asynchronous training",
}


def times_better(measure: Measure, ratio: float) -> float:
    """Turn a ratio of weft to TensorFlow into a factor above one where weft is better."""
    return ratio if measure.unit.more_is_better else 1 / ratio


def advantage(row: Row) -> Spread | None:
    """Return how many times better weft is, above one, or below one where it is worse."""
    ratio = row.ratio()
    if ratio is None:
        return None
    low, high = sorted(times_better(row.measure, value) for value in (ratio.low, ratio.high))
    return Spread(times_better(row.measure, ratio.median), low, high)


def draw(sitting: Sitting) -> str:
    """Return the SVG; rows that lack either figure are left out."""
    groups = _grouped(sitting)
    bars = [bar for group in groups.values() for bar in group]
    height = TOP + ROW * len(bars) + GROUP * len(groups) + BOTTOM
    picture = Drawing(WIDTH, height, "How many times better weft is than TensorFlow", _described(bars))
    axis = _axis(bars)
    _head(picture, sitting)
    _grid(picture, axis, height)
    y = TOP
    for title, group in groups.items():
        picture.text(20, y + GROUP - 9, title, "muted", bold=True)
        y += GROUP
        for row, times in group:
            _bar(picture, axis, y, row, times)
            y += ROW
    _foot(picture, sitting, height)
    return str(picture)


def _grouped(sitting: Sitting) -> dict[str, list[tuple[Row, Spread]]]:
    groups: dict[str, list[tuple[Row, Spread]]] = {}
    for row in sitting.rows:
        if times := advantage(row):
            family = row.measure.program.partition(":")[0]
            groups.setdefault(_GROUPS.get(family, family), []).append((row, times))
    return groups


def _described(bars: list[tuple[Row, Spread]]) -> str:
    return "; ".join(f"{row.measure.title}: {times.median:.1f} times" for row, times in bars)


def _axis(bars: list[tuple[Row, Spread]]) -> Scale:
    shown = [value for row, times in bars for value in (times.low, times.high, times_better(row.measure, row.measure.goal))]
    low, high = min([0.9, *shown]), max([2.0, *shown]) * 1.08
    return Scale(low, high, LABELS, WIDTH - FIGURES, is_logarithmic=True)


def _head(picture: Drawing, sitting: Sitting) -> None:
    versions = " against ".join(f"{contender.title} {sitting.versions[contender.name]}" for contender in sitting.contenders)
    picture.text(20, 32, f"{versions}: how many times better", size=17, bold=True)
    x = 20.0
    for kind, words, room in (("weft", "weft is better", 124), ("peer", "TensorFlow is better", 172)):
        picture.box(x, 46, 12, 12, kind, radius=2)
        picture.text(x + 18, 56, words, "muted")
        x += room
    _whisker(picture, x, x + 18, 52)
    picture.text(x + 25, 56, "lowest to highest round", "muted")
    _goal_mark(picture, x + 200, 52)
    picture.text(x + 208, 56, "goal", "muted")
    picture.text(WIDTH - FIGURES + 14, TOP - 14, "better", "muted", size=11.5)
    picture.text(WIDTH - 20, TOP - 14, "weft / TensorFlow", "muted", size=11.5, anchor="end")


def _goal_mark(picture: Drawing, x: float, middle: float) -> None:
    picture.line(x, middle - 10, x, middle + 10, "card", width=5)
    picture.line(x, middle - 10, x, middle + 10, "ink", width=2)


def _whisker(picture: Drawing, low: float, high: float, middle: float) -> None:
    for colour, width in (("card", 4.5), ("ink", 1.5)):
        picture.line(low, middle, high, middle, colour, width=width)
        for x in (low, high):
            picture.line(x, middle - 3, x, middle + 3, colour, width=width)


def _grid(picture: Drawing, axis: Scale, height: int) -> None:
    for tick in _TICKS:
        if axis.low <= tick <= axis.high:
            x = axis(tick)
            picture.line(x, TOP - 6, x, height - BOTTOM + 4, "axis" if tick == 1 else "grid")
            picture.text(x, TOP - 14, f"{tick:g}×", "muted", anchor="middle", size=11.5)  # noqa: RUF001


def _bar(picture: Drawing, axis: Scale, y: float, row: Row, times: Spread) -> None:
    measure, middle = row.measure, y + ROW / 2
    start, end = sorted((axis(1), axis(times.median)))
    picture.text(LABELS - 12, middle + 4.5, measure.title, anchor="end")
    picture.box(start, y + 5, max(end - start, 1), ROW - 10, "weft" if times.median >= 1 else "peer", radius=2)
    _goal_mark(picture, axis(times_better(measure, measure.goal)), middle)
    if times.high > times.low:
        _whisker(picture, axis(times.low), axis(times.high), middle)
    picture.text(WIDTH - FIGURES + 14, middle + 4.5, f"{times.median:.{0 if times.median >= 20 else 1}f}×", bold=True)  # noqa: RUF001
    picture.text(WIDTH - 20, middle + 4.5, _figures(row), "muted", anchor="end")


def _figures(row: Row) -> str:
    ours, theirs = row.figure(WEFT), row.figure(TENSORFLOW)
    if ours is None or theirs is None:
        return ""
    unit = row.measure.unit
    first, second = quantity(ours.median, unit), quantity(theirs.median, unit)
    same_suffix = first.partition(" ")[2] == second.partition(" ")[2]
    return f"{first.partition(' ')[0] if same_suffix else first} / {second}"


def _foot(picture: Drawing, sitting: Sitting, height: int) -> None:
    rounds = len(sitting.limits)
    how = f"median of {rounds} rounds in alternation" if rounds > 1 else "one round"
    words = f"{sitting.machine['cores']} cores, {sitting.machine['architecture']}, CPU; {how}; logarithmic scale"
    picture.text(20, height - 16, words[:1].upper() + words[1:], "muted", size=11.5)

"""The picture of a sitting: how many times better weft is than TensorFlow, one bar a measure.

Bars are on a logarithmic scale and start at equal: to the right weft is better, to the left TensorFlow is. The whisker
spans the rounds; the small mark is the goal.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.catalogue import Measure
from benchmarks.drawing import COLOURS, Picture, style
from benchmarks.framework import WEFT
from benchmarks.report import quantity
from benchmarks.sitting import Row, Sitting, Spread

WIDTH, LABELS, FIGURES, ROW, TOP, BOTTOM = 1020, 384, 250, 26, 96, 46
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
    height = TOP + ROW * (len(bars) + len(groups)) + BOTTOM
    with style():
        picture = Picture(WIDTH, height, "How many times better weft is than TensorFlow", _described(bars))
        axes = picture.axes(LABELS, TOP, WIDTH - FIGURES, height - BOTTOM)
        _scale(axes, bars, len(bars) + len(groups))
        y = 0
        for title, group in groups.items():
            _beside(axes, y, (0, 20 - LABELS), title, "muted", "left", weight="bold")
            for number, (row, times) in enumerate(group, start=y + 1):
                _bar(axes, number, row, times)
            y += len(group) + 1
        _words(picture, sitting, height)
        return str(picture)


def _grouped(sitting: Sitting) -> dict[str, list[tuple[Row, Spread]]]:
    groups: dict[str, list[tuple[Row, Spread]]] = {}
    for row in sitting.rows:
        if times := advantage(row):
            family = row.measure.family
            groups.setdefault(_GROUPS.get(family, family), []).append((row, times))
    return groups


def _described(bars: list[tuple[Row, Spread]]) -> str:
    return "; ".join(f"{row.measure.title}: {times.median:.1f} times" for row, times in bars)


def _scale(axes: Axes, bars: list[tuple[Row, Spread]], rows: int) -> None:
    shown = [value for row, times in bars for value in (times.low, times.high, times_better(row.measure, row.measure.goal))]
    axes.set_xscale("log")
    axes.set_xlim(min([0.9, *shown]), max([2.0, *shown]) * 1.08)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.xaxis.set_major_locator(FixedLocator(_TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}×"))  # noqa: RUF001
    axes.xaxis.tick_top()
    axes.tick_params("x", length=0)
    axes.yaxis.set_visible(False)
    axes.spines[["bottom"]].set_visible(False)
    axes.grid(axis="x")
    axes.axvline(1, color=COLOURS["axis"], linewidth=1)


def _bar(axes: Axes, y: int, row: Row, times: Spread) -> None:
    kind = "weft" if times.median >= 1 else "peer"
    axes.barh(y, times.median - 1, left=1, height=0.6, color=COLOURS[kind], gid=f"{kind}-{y}")
    goal = times_better(row.measure, row.measure.goal)
    for colour, width in (("card", 5), ("ink", 2)):
        axes.vlines(goal, y - 0.38, y + 0.38, COLOURS[colour], linewidth=width)
    if times.high > times.low:
        span = ([times.median - times.low], [times.high - times.median])
        axes.errorbar(times.median, y, xerr=span, color=COLOURS["ink"], linewidth=1.5, capsize=3)
    better = f"{times.median:.{0 if times.median >= 20 else 1}f}×"  # noqa: RUF001
    _beside(axes, y, (0, -12), row.measure.title, "ink", "right")
    _beside(axes, y, (1, 14), better, "ink", "left", weight="bold")
    _beside(axes, y, (1, FIGURES - 20), _figures(row), "muted", "right")


def _beside(axes: Axes, y: int, place: tuple[int, int], words: str, colour: str, side: str, weight: str = "normal") -> None:
    """Words in a row, so many pixels from the left (0) or the right (1) end of the bars."""
    end, distance = place
    axes.annotate(
        words, (end, y), (distance, 0), axes.get_yaxis_transform(), "offset pixels",
        color=COLOURS[colour], ha=side, va="center", weight=weight,
    )  # fmt: skip


def _words(picture: Picture, sitting: Sitting, height: int) -> None:
    """The title, what the marks mean, and how it was measured."""
    versions = " against ".join(f"{contender.title} {sitting.versions[contender.name]}" for contender in sitting.contenders)
    picture.text(20, 32, f"{versions}: how many times better", size=17, bold=True)
    picture.text(20, 57, "■", "weft")
    picture.text(36, 57, "weft is better", "muted")
    picture.text(146, 57, "■", "peer")
    picture.text(162, 57, "TensorFlow is better", "muted")
    picture.text(318, 57, "├─┤  lowest to highest round", "muted")
    picture.text(520, 57, "❘  goal", "muted")
    picture.text(WIDTH - FIGURES + 14, TOP - 14, "better", "muted", size=11)
    picture.text(WIDTH - 116, TOP - 14, "weft / TensorFlow", "muted", size=11)
    rounds = len(sitting.limits)
    how = f"median of {rounds} rounds in alternation" if rounds > 1 else "one round"
    words = f"{sitting.machine['cores']} cores, {sitting.machine['architecture']}, CPU; {how}; logarithmic scale"
    picture.text(20, height - 16, words[:1].upper() + words[1:], "muted", size=11)


def _figures(row: Row) -> str:
    ours, theirs = row.figure(WEFT), row.figure(row.peer() or "")
    if ours is None or theirs is None:
        return ""
    unit = row.measure.unit
    first, second = quantity(ours.median, unit), quantity(theirs.median, unit)
    same_suffix = first.partition(" ")[2] == second.partition(" ")[2]
    return f"{first.partition(' ')[0] if same_suffix else first} / {second}"

"""A sitting in words: the table that people read, and the JSON that programs read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchmarks.catalogue import MEASURES, Limit, Measure, Unit
from benchmarks.contender import Contender, Outcome
from benchmarks.framework import ORIGINAL, TENSORFLOW, WEFT
from benchmarks.machine import Limits
from benchmarks.sitting import Row, Sitting, Spread
from benchmarks.timing import Sample

_SCALES = {
    Unit.SECONDS: ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    Unit.RATE: ((1e9, "GB/s"), (1e6, "MB/s")),
    Unit.BYTES: ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")),
}
HEADINGS = ("measure", "weft", "TensorFlow", "ratio", "(spread)", "goal", "", "machine limit")


def quantity(value: float, unit: Unit) -> str:
    """Print a figure with three digits and a fitting unit: `33.1 µs`, `3.10 GB/s`, `2,444 steps/s`."""
    if unit is Unit.STEPS:
        return f"{value:,.0f} steps/s"
    if unit is Unit.SHARE:
        return f"{value:.2f}"
    factor, suffix = next((each for each in _SCALES[unit] if value >= each[0]), _SCALES[unit][-1])
    scaled = value / factor
    digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2
    return f"{scaled:.{digits}f} {suffix}"


def table(sitting: Sitting) -> str:
    """Lay the sitting out as text, and list the reasons of missing figures under it."""
    limits = sitting.typical_limits()
    cells = [HEADINGS, *(_cells(row, limits) for row in sitting.rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADINGS))]
    text = [_aligned(cells[0], widths), "  ".join("-" * width for width in widths)]
    text += [_aligned(line, widths) for line in cells[1:]]
    return "\n".join([*text, "", *_reasons(sitting), *_waits(sitting), *_context(sitting, limits)])


def _cells(row: Row, limits: Limits) -> tuple[str, ...]:
    measure, ratio = row.measure, row.ratio()
    return (
        measure.title,
        _figure(row, WEFT),
        _figure(row, row.peer() or TENSORFLOW) + of_original(row),
        f"{ratio.median:.2f}" if ratio else "-",
        f"({ratio.low:.2f} to {ratio.high:.2f})" if ratio else "",
        goal(measure),
        _verdict(measure, ratio),
        _limit(measure, limits),
    )


def of_original(row: Row) -> str:
    """What stands behind a figure that is TensorFlow 1's."""
    return " (1)" if row.peer() == ORIGINAL else ""


def goal(measure: Measure) -> str:
    return f"{'≥' if measure.unit.more_is_better else '≤'} {measure.goal:g}"


def _verdict(measure: Measure, ratio: Spread | None) -> str:
    if ratio is None:
        return ""
    return "reached" if measure.reaches_goal(ratio.median) else "missed"


def _figure(row: Row, contender: str) -> str:
    figure = row.figure(contender)
    if figure is not None:
        return quantity(figure.median, row.measure.unit)
    return "failed" if row.reason(contender) else "-"


def _limit(measure: Measure, limits: Limits) -> str:
    found = machine_limit(measure, limits)
    return f"{quantity(found.value, measure.unit)} ({found.source})" if found else "-"


def machine_limit(measure: Measure, limits: Limits) -> Limit | None:
    return measure.limit(limits) if measure.limit else None


def _aligned(cells: tuple[str, ...], widths: list[int]) -> str:
    """Align the first and the last columns to the left, the figures between them to the right."""
    left = (0, len(cells) - 2, len(cells) - 1)
    padded = [f"{cell:<{w}}" if i in left else f"{cell:>{w}}" for i, (cell, w) in enumerate(zip(cells, widths, strict=True))]
    return "  ".join(padded).rstrip()


def _reasons(sitting: Sitting) -> list[str]:
    lines = [
        f"{row.measure.name} failed on {contender.title}: {reason}"
        for row in sitting.rows
        for contender in sitting.contenders
        if (reason := row.reason(contender.name))
    ]
    return [*lines, ""] if lines else []


def _waits(sitting: Sitting) -> list[str]:
    """How often the measuring process waited, per call or item, beside the least that the work needs."""
    lines = []
    for row in sitting.rows:
        found = [(each.title, waits.median) for each in sitting.contenders if (waits := row.waits(each.name)) is not None]
        if found:
            figures = ", ".join(f"{title} {waits:.2f}" for title, waits in found)
            least = "" if row.measure.least_waits is None else f"; the least is {row.measure.least_waits}"
            lines.append(f"waits of {row.measure.name}: {figures}{least}")
    return [*lines, ""] if lines else []


def _context(sitting: Sitting, limits: Limits) -> list[str]:
    versions = ", ".join(f"{contender.title} {sitting.versions[contender.name]}" for contender in sitting.contenders)
    return [
        f"{versions}; medians over {len(sitting.limits)} round(s); "
        f"{sitting.machine['cores']} cores, {sitting.machine['architecture']}",
        f"round trip: TCP {quantity(limits.tcp_round_trip_s, Unit.SECONDS)}, Unix "
        f"{quantity(limits.unix_round_trip_s, Unit.SECONDS)}; rate: TCP {quantity(limits.tcp_rate, Unit.RATE)}, Unix "
        f"{quantity(limits.unix_rate, Unit.RATE)}, memcpy {quantity(limits.copy_rate, Unit.RATE)}; "
        f"matmul {limits.matmul_rate / 1e9:.0f} GFLOP/s",
    ]


def as_json(sitting: Sitting) -> dict[str, Any]:
    """Return everything that was measured, in seconds, bytes and steps per second, round by round, for `from_json` to read."""
    limits = sitting.typical_limits()
    return {
        "versions": sitting.versions,
        "machine": sitting.machine,
        "limits": {"median": asdict(limits), "rounds": [asdict(each) for each in sitting.limits]},
        "measures": {row.measure.name: _row_as_json(row, limits) for row in sitting.rows},
    }


def from_json(document: dict[str, Any]) -> Sitting:
    """Return the sitting that `as_json` wrote; measures that no longer exist are left out."""
    rows = [
        Row(measure, {name: [_outcome(each) for each in outcomes] for name, outcomes in written["rounds"].items()})
        for measure in MEASURES
        if (written := document["measures"].get(measure.name))
    ]
    contenders = [Contender(name, "") for name in document["versions"]]
    limits = [Limits(**each) for each in document["limits"]["rounds"]]
    return Sitting(contenders, document["versions"], rows, limits, document["machine"])


def _outcome(written: dict[str, Any]) -> Outcome:
    return Outcome(None, written["reason"]) if "reason" in written else Outcome(Sample(**written))


def _row_as_json(row: Row, limits: Limits) -> dict[str, Any]:
    measure, ratio = row.measure, row.ratio()
    found = machine_limit(measure, limits)
    return {
        "title": measure.title,
        "unit": measure.unit.value,
        "goal": goal(measure),
        "ratio": asdict(ratio) if ratio else None,
        "reached": measure.reaches_goal(ratio.median) if ratio else None,
        "limit": asdict(found) if found else None,
        "rounds": {
            name: [asdict(each.sample) if each.sample else {"reason": each.reason} for each in outcomes]
            for name, outcomes in row.outcomes.items()
        },
    }

"""The same measures on several machines: each one's ratios side by side, and what the machines are."""

from __future__ import annotations

import string

from benchmarks.catalogue import MEASURES, Measure, Unit
from benchmarks.report import goal, quantity
from benchmarks.sitting import Sitting


def table(sittings: list[Sitting]) -> str:
    """Return a Markdown table of ratios, a column for each sitting and a row for each measure that two of them have; below it,
    the machines.

    Args:
        sittings: one of each machine, 26 at most.
    """
    names = string.ascii_uppercase[: len(sittings)]
    ratios = [{row.measure.name: ratio.median for row in each.rows if (ratio := row.ratio())} for each in sittings]
    lines = [f"| measure | goal | {' | '.join(names)} |", f"|---|---|{'---|' * len(sittings)}"]
    for measure in MEASURES:
        known = [of_one.get(measure.name) for of_one in ratios]
        if sum(ratio is not None for ratio in known) > 1:
            lines.append(f"| {measure.title} | {goal(measure)} | {' | '.join(_cell(measure, ratio) for ratio in known)} |")
    reached = [
        sum(measure.reaches_goal(of_one[measure.name]) for measure in MEASURES if measure.name in of_one) for of_one in ratios
    ]
    lines += ["", "Ratios that miss their goal are in bold.", ""]
    for name, sitting, of_one, count in zip(names, sittings, ratios, reached, strict=True):
        lines.append(f"- {name}: {count} of {len(of_one)} reached; {_machine(sitting)}")
    return "\n".join(lines)


def _cell(measure: Measure, ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if measure.reaches_goal(ratio) else f"**{ratio:.2f}**"


def _machine(sitting: Sitting) -> str:
    limits = sitting.typical_limits()
    rounds = len(sitting.limits)
    return (
        f"{sitting.machine['cores']} cores, {sitting.machine['architecture']}, {sitting.machine['system']}: Unix round trip "
        f"{quantity(limits.unix_round_trip_s, Unit.SECONDS)}, memcpy {quantity(limits.copy_rate, Unit.RATE)}, matmul "
        f"{limits.matmul_rate / 1e9:.0f} GFLOP/s; {rounds} round{'s' if rounds > 1 else ''}"
    )

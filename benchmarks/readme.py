"""A sitting in a Markdown document: the picture, and the table folded under it, between two comments, which stay."""

from __future__ import annotations

from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.picture import times_better
from benchmarks.report import goal, quantity
from benchmarks.sitting import Row, Sitting

BEGIN, END = "<!-- benchmarks: written by the harness -->", "<!-- end of benchmarks -->"


def table(sitting: Sitting) -> str:
    """Return a Markdown table with a row for each measure that has both figures."""
    heads = " | ".join(f"{contender.title} {sitting.versions[contender.name]}" for contender in sitting.contenders)
    lines = [f"| measure | {heads} | ratio | lowest to highest | goal |", "|---|---|---|---|---|---|"]
    lines += [line for row in sitting.rows if (line := _line(row))]
    rounds = len(sitting.limits)
    how = f"median of {rounds} rounds in alternation" if rounds > 1 else "one round"
    lines += ["", f"{how[:1].upper()}{how[1:]}, {sitting.machine['cores']} cores, {sitting.machine['architecture']}, CPU."]
    return "\n".join(lines)


def _line(row: Row) -> str:
    ours, theirs, ratio = row.figure(WEFT), row.figure(TENSORFLOW), row.ratio()
    if ours is None or theirs is None or ratio is None:
        return ""
    unit = row.measure.unit
    cells = (row.measure.title, quantity(ours.median, unit), quantity(theirs.median, unit))
    return f"| {' | '.join(cells)} | {ratio.median:.2f} | {ratio.low:.2f} to {ratio.high:.2f} | {goal(row.measure)} |"


def with_sitting(document: str, sitting: Sitting, picture: str | None) -> str:
    """Return the document with the table put between its two comments; `picture` is the link to show above it.

    Raises:
        ValueError: the comments are not there.
    """
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no place for the table: it needs the lines {BEGIN!r} and {END!r}")
    shown = table(sitting)
    if picture:
        shown = f"![{_described(sitting)}]({picture})\n\n<details>\n<summary>The figures</summary>\n\n{shown}\n\n</details>"
    return f"{before}{BEGIN}\n\n{shown}\n\n{END}{after}"


def _described(sitting: Sitting) -> str:
    better = [row for row in sitting.rows if (ratio := row.ratio()) and times_better(row.measure, ratio.median) >= 1]
    judged = [row for row in sitting.rows if row.ratio()]
    return f"weft against TensorFlow on the same machine: better in {len(better)} of {len(judged)} measures."

"""Results in a Markdown document: a picture, and the figures folded under it, between two comments, which stay."""

from __future__ import annotations

from benchmarks.framework import ORIGINAL, WEFT
from benchmarks.picture import times_better
from benchmarks.report import goal, of_original, quantity
from benchmarks.sitting import Row, Sitting


def place(name: str) -> tuple[str, str]:
    """Return the comments between which the results of a mode stand."""
    return f"<!-- {name}: written by the harness -->", f"<!-- end of {name} -->"


def placed(document: str, name: str, results: str) -> str:
    """Return the document with the results between the mode's comments, instead of what was there.

    Raises:
        ValueError: the comments are not there.
    """
    begin, end = place(name)
    before, found, rest = document.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise ValueError(f"the document has no place for the results: it needs the lines {begin!r} and {end!r}")
    return f"{before}{begin}\n\n{results}\n\n{end}{after}"


def folded(figures: str, picture: str | None, description: str) -> str:
    """Return figures in Markdown, folded under the picture if there is one; `picture` is its link."""
    if picture is None:
        return figures
    return f"![{description}]({picture})\n\n<details>\n<summary>The figures</summary>\n\n{figures}\n\n</details>"


def as_printed(words: str) -> str:
    """Return what a mode prints as Markdown that keeps its lines."""
    return f"```text\n{words.strip()}\n```"


def table(sitting: Sitting) -> str:
    """Return a Markdown table with a row for each measure that has both figures."""
    titles = {contender.name: f"{contender.title} {sitting.versions[contender.name]}" for contender in sitting.contenders}
    original = titles.pop(ORIGINAL, None)
    heads = " | ".join(titles.values())
    lines = [f"| measure | {heads} | ratio | lowest to highest | goal |", "|---|---|---|---|---|---|"]
    lines += [line for row in sitting.rows if (line := _line(row))]
    rounds = len(sitting.limits)
    how = f"median of {rounds} rounds in alternation" if rounds > 1 else "one round"
    lines += ["", f"{how[:1].upper()}{how[1:]}, {sitting.machine['cores']} cores, {sitting.machine['architecture']}, CPU."]
    if original:
        lines[-1] += f" (1): {original.replace('TensorFlow 1 ', 'TensorFlow ')}, where it is the better one."
    return "\n".join(lines)


def _line(row: Row) -> str:
    ours, theirs, ratio = row.figure(WEFT), row.figure(row.peer() or ""), row.ratio()
    if ours is None or theirs is None or ratio is None:
        return ""
    unit = row.measure.unit
    cells = (row.measure.title, quantity(ours.median, unit), quantity(theirs.median, unit) + of_original(row))
    return f"| {' | '.join(cells)} | {ratio.median:.2f} | {ratio.low:.2f} to {ratio.high:.2f} | {goal(row.measure)} |"


def described(sitting: Sitting) -> str:
    """Say in a sentence what the picture of a sitting shows."""
    better = [row for row in sitting.rows if (ratio := row.ratio()) and times_better(row.measure, ratio.median) >= 1]
    judged = [row for row in sitting.rows if row.ratio()]
    return f"weft against TensorFlow on the same machine: better in {len(better)} of {len(judged)} measures."

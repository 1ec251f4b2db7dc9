"""What metrics cost the rows that have tasks: CPU time with every task's metrics read once a second, over that without.

Times of this kind drown in what else a machine does, so CPU time is compared: of all processes for each step, in turns of one
run (`turns`), or of a whole row where no steps are counted, in runs that alternate. Beside the ratio stands what needs no
comparison: the part of the CPU time that those threads have taken which serve metrics and look at steps, and how much that is
each second, whatever the steps get of a machine.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import machine, scraping, turns
from benchmarks.catalogue import MEASURES, Measure, Unit, select
from benchmarks.contender import Contender
from benchmarks.estimate import Estimate, estimate
from benchmarks.report import quantity

PORT_VARIABLE = "WEFT_METRICS_PORT"
FAMILIES = frozenset(("asynchronous_training", "between_hosts", "remote_variables", "sessions"))
WHOLE = frozenset(("cluster_start", "cluster_ready", "launched", "ps_memory"))
"""The rows that count no steps; their work is the same each time."""
NAMES = WHOLE | {"feed_remote"}
"""The rows that have tasks are those of the families, and these; no other has anything to serve."""
LIMIT = 1.02


@dataclass(frozen=True)
class Turn:
    """What one turn gave: CPU seconds of a step or of the row, or bytes; and what of it was the metrics'.

    Args:
        share: their part.
        per_second: their CPU seconds each second, all tasks together.
    """

    value: float
    share: float | None = None
    per_second: float | None = None


@dataclass
class Row:
    """The turns of one measure without readings and with them, in pairs."""

    measure: Measure
    plain: list[Turn] = field(default_factory=list)
    scraped: list[Turn] = field(default_factory=list)
    reason: str = ""

    def ratio(self) -> Estimate | None:
        """With metrics over without, formed within each pair."""
        return estimate(theirs.value / ours.value for ours, theirs in zip(self.plain, self.scraped, strict=True))

    def is_cheap(self) -> bool | None:
        """Whether the ratio is below the limit by two standard errors; None where it is neither below nor above it by these."""
        ratio = self.ratio()
        if ratio is None or ratio.error is None:
            return None
        if ratio.value + 2 * ratio.error < LIMIT:
            return True
        return False if ratio.value - 2 * ratio.error > LIMIT else None


@dataclass
class Sitting:
    """What was measured, where."""

    rows: list[Row]
    machine: dict[str, Any] = field(default_factory=machine.describe)


def choose(patterns: list[str]) -> list[Measure]:
    """Return the measures that match and have tasks."""
    return [each for each in select(patterns) if has_tasks(each)]


def has_tasks(measure: Measure) -> bool:
    """Whether servers run in a row."""
    return measure.family in FAMILIES or measure.name in NAMES


def hold(contender: Contender, measures: list[Measure], *, rounds: int, tell: Callable[[str], None]) -> Sitting:
    """Measure each row: in turns of one run, or whole rows in `rounds` pairs of runs, whose order changes with each."""
    sitting = Sitting([Row(measure) for measure in measures])
    for row in sitting.rows:
        try:
            if row.measure.name in WHOLE:
                _compare_runs(contender, row, rounds)
            else:
                _compare_turns(contender, row)
        except RuntimeError as error:
            row.reason = str(error)
        ratio = row.ratio()
        tell(f"  {row.measure.name:<20} {row.reason or (ratio and _in_percent(ratio))}  {len(row.plain)} pairs")
    return sitting


def _compare_turns(contender: Contender, row: Row) -> None:
    with tempfile.TemporaryDirectory() as name:
        found = Path(name) / "turns.json"
        _run(contender, row.measure, is_read=True, more={turns.FILE_VARIABLE: str(found)})
        for pair in json.loads(found.read_text()):
            plain, read = (turns.Turn(**each) for each in pair)
            step_s, metrics_s = plain.cpu_s / plain.steps, read.metrics_s / scraping.DOSE
            row.plain.append(Turn(step_s))
            row.scraped.append(Turn(step_s * turns.ratio(plain, read), metrics_s / read.cpu_s, metrics_s / read.window_s))


def _compare_runs(contender: Contender, row: Row, rounds: int) -> None:
    for round_ in range(rounds):
        found = {}
        for is_read in (False, True) if round_ % 2 == 0 else (True, False):
            message, took_s = _run(contender, row.measure, is_read=is_read)
            if row.measure.unit is Unit.BYTES:
                found[is_read] = Turn(message["value"])
            else:
                found[is_read] = Turn(message["cpu_s"], took_s / message["cpu_s"] if is_read else None)
        row.plain.append(found[False])
        row.scraped.append(found[True])


def _run(
    contender: Contender, measure: Measure, *, is_read: bool, more: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], float]:
    """Run a row, with its tasks' metrics read or without any.

    Returns:
        What it gave, and the CPU seconds of the metrics' threads.

    Raises:
        RuntimeError: it gave nothing, or no metrics.
    """
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        environment, readings = dict(more or {}), None
        if is_read:
            environment.update({PORT_VARIABLE: "0", scraping.FOLDER_VARIABLE: name})
            readings = stack.enter_context(scraping.scraped(Path(name), paused=turns.FILE_VARIABLE in environment))
        limit_s = 2 * measure.time_limit_s + turns.MOST_S
        answer = contender.ask(measure.program, time_limit_s=limit_s, environment=environment)
        if answer.message is None:
            raise RuntimeError(answer.reason or "it gave nothing")
        if readings is not None and not readings.done:
            raise RuntimeError(f"its metrics were not read once: {readings.failed} readings failed")
        return answer.message, 0.0 if readings is None else readings.took_s


def in_words(sitting: Sitting) -> str:
    """A table with a line for each row, and which of them are within the limit."""
    lines = [("CPU of a step, or of the row*", "without", "with metrics", "more", "their part", "each second", "pairs")]
    for row in sitting.rows:
        ratio = row.ratio()
        if ratio is None:
            lines.append((row.measure.title, "-", "-", row.reason, "-", "-", "-"))
            continue
        unit = Unit.BYTES if row.measure.unit is Unit.BYTES else Unit.SECONDS
        shown = [quantity(statistics.median(turn.value for turn in turns_), unit) for turns_ in (row.plain, row.scraped)]
        title = row.measure.title + ("*" if row.measure.name in WHOLE else "")
        shares = [turn.share for turn in row.scraped if turn.share is not None]
        works = [turn.per_second for turn in row.scraped if turn.per_second is not None]
        part = f"{statistics.median(shares):.2%}" if shares else "-"
        work = quantity(statistics.median(works), Unit.SECONDS) if works else "-"
        lines.append((title, *shown, _in_percent(ratio), part, work, str(len(row.plain))))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = [
        f"{line[0]:<{widths[0]}}  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    ]
    return "\n".join(
        [
            *text,
            "",
            "Medians of pairs, ± their standard error. * The whole row's, or its memory, and no step's.",
            _verdict(sitting),
        ]
    )


def _verdict(sitting: Sitting) -> str:
    known = [row for row in sitting.rows if row.ratio() is not None]
    dear = [row.measure.name for row in known if row.is_cheap() is False]
    open_ = [row.measure.name for row in known if row.is_cheap() is None]
    words = f"Below {LIMIT - 1:.0%} by two standard errors: {len(known) - len(dear) - len(open_)} of {len(sitting.rows)} rows"
    words += f"; above: {', '.join(dear)}" if dear else ""
    return words + (f"; not decided: {', '.join(open_)}." if open_ else ".")


def _in_percent(ratio: Estimate) -> str:
    return f"{ratio.value - 1:+.2%}" + ("" if ratio.error is None else f" ± {ratio.error:.2%}")


def as_json(sitting: Sitting) -> dict[str, Any]:
    """Return all that was measured, for `from_json` to read."""
    rows = {
        row.measure.name: {
            "plain": [asdict(turn) for turn in row.plain],
            "scraped": [asdict(turn) for turn in row.scraped],
            "reason": row.reason,
        }
        for row in sitting.rows
    }
    return {"machine": sitting.machine, "rows": rows}


def from_json(document: dict[str, Any]) -> Sitting:
    """Return the sitting that `as_json` wrote; rows that no longer exist are left out."""
    rows = []
    for measure in MEASURES:
        written = document["rows"].get(measure.name)
        if written:
            plain, scraped = ([Turn(**each) for each in written[key]] for key in ("plain", "scraped"))
            rows.append(Row(measure, plain, scraped, written["reason"]))
    return Sitting(rows, document["machine"])

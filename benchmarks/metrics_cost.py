"""What metrics cost the rows that have tasks: each as it is, and with every task's metrics read once a second, in alternation.

Times of this kind drown in what else a machine does, so CPU time is compared: of all processes for each step, where steps are
counted, else of the whole row, which does the same work each time. Beside the ratio stands what needs no comparison: the part
of the CPU time that the threads have taken which serve metrics and look at steps, and how much that is each second, whatever
the steps get of a machine.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import machine, scraping
from benchmarks.catalogue import MEASURES, Measure, Unit, select
from benchmarks.contender import Contender
from benchmarks.counting import FILE_VARIABLE
from benchmarks.report import quantity
from benchmarks.sitting import Spread, spread

PORT_VARIABLE = "WEFT_METRICS_PORT"
FAMILIES = frozenset(("asynchronous_training", "between_hosts", "remote_variables", "sessions"))
NAMES = frozenset(("cluster_start", "cluster_ready", "launched", "feed_remote"))
"""The rows that have tasks are those of the families, and these; no other has anything to serve."""


@dataclass(frozen=True)
class Turn:
    """What one process gave: CPU seconds of a step or of the row, or bytes; and what of it was the metrics'.

    Args:
        share: their part.
        per_second: their CPU seconds each second, all tasks together.
    """

    value: float
    share: float | None = None
    per_second: float | None = None


@dataclass
class Row:
    """The turns of one measure without metrics and with them, in the order of the rounds."""

    measure: Measure
    plain: list[Turn] = field(default_factory=list)
    scraped: list[Turn] = field(default_factory=list)
    reason: str = ""

    def ratio(self) -> Spread | None:
        """With metrics over without, formed within each round."""
        return spread(theirs.value / ours.value for ours, theirs in zip(self.plain, self.scraped, strict=False))

    def share(self) -> Spread | None:
        """The metrics' own part of the CPU time, where steps were counted."""
        return spread(turn.share for turn in self.scraped if turn.share is not None)

    def per_second(self) -> Spread | None:
        """The metrics' CPU seconds each second."""
        return spread(turn.per_second for turn in self.scraped if turn.per_second is not None)


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
    """Run all measures without and with metrics, `rounds` times; their order changes with each round."""
    sitting = Sitting([Row(measure) for measure in measures])
    for round_ in range(rounds):
        for row in sitting.rows:
            found: dict[bool, Turn] = {}
            for with_metrics in (False, True) if round_ % 2 == 0 else (True, False):
                try:
                    found[with_metrics] = _turn(contender, row.measure, with_metrics)
                except RuntimeError as error:
                    row.reason = str(error)
            if len(found) == 2:
                row.plain.append(found[False])
                row.scraped.append(found[True])
                tell(f"  {row.measure.name:<20} {found[True].value / found[False].value:.3f}  {found[True].share}")
            else:
                tell(f"  {row.measure.name:<20} {row.reason}")
    return sitting


def _turn(contender: Contender, measure: Measure, with_metrics: bool) -> Turn:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        counts, folder = Path(name) / "counts.json", Path(name) / "metrics"
        environment = {FILE_VARIABLE: str(counts)}
        readings = None
        if with_metrics:
            folder.mkdir()
            environment.update({PORT_VARIABLE: "0", scraping.FOLDER_VARIABLE: str(folder)})
            readings = stack.enter_context(scraping.scraped(folder))
        answer = contender.ask(measure.program, time_limit_s=2 * measure.time_limit_s, environment=environment)
        if answer.message is None:
            raise RuntimeError(answer.reason or "it gave nothing")
        if readings is not None and not readings.done:
            raise RuntimeError(f"its metrics were not read once: {readings.failed} readings failed")
        if measure.unit is Unit.BYTES:
            return Turn(answer.message["value"])
        if not counts.exists():
            return Turn(answer.message["cpu_s"])
        return turn_of(json.loads(counts.read_text()))


def turn_of(counts: dict[str, Any]) -> Turn:
    """What a window of steps has counted, for a step."""
    cpu_s = sum(each["cpu_s"] for each in counts["processes"].values())
    metrics_s = counts.get("metrics_s")
    if metrics_s is None:
        return Turn(cpu_s / counts["steps"])
    return Turn(cpu_s / counts["steps"], metrics_s / cpu_s, metrics_s / counts["window_s"])


def in_words(sitting: Sitting) -> str:
    """A table with a line for each row."""
    lines = [
        ("CPU of a step, or of the row*", "without", "with metrics", "ratio", "lowest to highest", "their part", "each second")
    ]
    for row in sitting.rows:
        ratio, share, per_second = row.ratio(), row.share(), row.per_second()
        if ratio is None:
            lines.append((row.measure.title, "-", "-", "-", row.reason, "-", "-"))
            continue
        unit = Unit.BYTES if row.measure.unit is Unit.BYTES else Unit.SECONDS
        values = [spread(turn.value for turn in turns) for turns in (row.plain, row.scraped)]
        shown = [quantity(each.median, unit) for each in values if each is not None]
        part = "-" if share is None else f"{share.median:.2%}"
        work = "-" if per_second is None else quantity(per_second.median, Unit.SECONDS)
        title = row.measure.title + ("*" if share is None else "")
        lines.append((title, *shown, f"{ratio.median:.3f}", f"{ratio.low:.3f} to {ratio.high:.3f}", part, work))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = [
        f"{line[0]:<{widths[0]}}  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    ]
    rounds = max((len(row.plain) for row in sitting.rows), default=0)
    return "\n".join([*text, "", f"Medians of {rounds} rounds. * The whole row's, or its memory, and no step's."])


def as_json(sitting: Sitting) -> dict[str, Any]:
    """Return all that was measured, for `from_json` to read."""
    rows = {
        row.measure.name: {key: [asdict(turn) for turn in turns] for key, turns in _turns(row)} | {"reason": row.reason}
        for row in sitting.rows
    }
    return {"machine": sitting.machine, "rows": rows}


def _turns(row: Row) -> list[tuple[str, list[Turn]]]:
    return [("plain", row.plain), ("scraped", row.scraped)]


def from_json(document: dict[str, Any]) -> Sitting:
    """Return the sitting that `as_json` wrote; rows that no longer exist are left out."""
    rows = []
    for measure in MEASURES:
        written = document["rows"].get(measure.name)
        if written:
            plain, scraped = ([Turn(**each) for each in written[key]] for key in ("plain", "scraped"))
            rows.append(Row(measure, plain, scraped, written["reason"]))
    return Sitting(rows, document["machine"])

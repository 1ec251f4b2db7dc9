"""Many chaos jobs, a few at a time, and the table of what they showed."""

from __future__ import annotations

import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Final

from reliability.chaos import job
from reliability.chaos.job import HANG_S, KINDS, Outcome

# Beyond the time that a job gives its workers: to judge, and to end what is left.
_SPARE_S: Final = 60.0


def run(
    jobs: int, seed: int, *, steps: int = 60, parallel: int = 2, first: int = 0, every: int = 1, keep: Path | None = None
) -> list[Outcome]:
    """Run jobs from number `first` on, `every` numbers apart; blocks. Each is a process group that ends with its job."""
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    outcomes: list[Outcome] = []
    running: dict[int, tuple[int, float]] = {}
    waiting = list(range(first, first + jobs * every, every))
    with tempfile.TemporaryDirectory(prefix="weft-chaos-") as name:
        folder = Path(name)
        try:
            while waiting or running:
                while waiting and len(running) < parallel:
                    number = waiting.pop(0)
                    pid = job.fork(lambda number=number: _run_one(folder, number, seed, steps, keep))  # type: ignore[misc]
                    running[pid] = number, time.monotonic()
                for pid in _ended(running):
                    number, _ = running.pop(pid)
                    outcomes.append(_outcome(folder, number))
                    print(_line(outcomes[-1]), file=sys.stderr, flush=True)
                time.sleep(0.02)
        finally:
            for pid in running:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
    return sorted(outcomes, key=lambda outcome: outcome.number)


def _run_one(folder: Path, number: int, seed: int, steps: int, keep: Path | None) -> None:
    os.setpgid(0, 0)
    outcome = job.run(number, seed, steps, keep)
    part = folder / f"{number}.part"
    part.write_text(json.dumps(asdict(outcome)))
    part.rename(folder / f"{number}.json")


def _ended(running: dict[int, tuple[int, float]]) -> list[int]:
    found = []
    for pid, (_, began) in running.items():
        if time.monotonic() - began > HANG_S + _SPARE_S:
            os.killpg(pid, signal.SIGKILL)
        if os.waitpid(pid, os.WNOHANG)[0]:
            found.append(pid)
    return found


def _outcome(folder: Path, number: int) -> Outcome:
    path = folder / f"{number}.json"
    if path.exists():
        return Outcome(**json.loads(path.read_text()))
    return Outcome(number, "?", "?", problems=["the job's own process failed or did not end"])


def _line(outcome: Outcome) -> str:
    told = "; ".join(outcome.problems) or "as it should"
    return f"job {outcome.number} ({outcome.mode}, {outcome.fault}, {outcome.seconds:.1f} s): {told}"


def table(outcomes: Iterable[Outcome]) -> str:
    """The figures in Markdown: by fault, the jobs, those that were right, times of detection and recovery."""
    held = list(outcomes)
    lines = [
        "| fault | jobs | as they should | noticed after: median, worst | longest pause of training: median, worst |",
        "|---|---|---|---|---|",
    ]
    for fault in [*KINDS, *sorted({each.fault for each in held} - {*KINDS})]:
        mine = [each for each in held if each.fault == fault]
        if mine:
            good = sum(not each.problems for each in mine)
            noticed = [each.detected_s for each in mine if each.detected_s is not None]
            paused = [each.recovered_s for each in mine if each.recovered_s is not None]
            lines.append(f"| {fault} | {len(mine)} | {good} | {_times(noticed, len(mine))} | {_times(paused, len(mine))} |")
    operations = sum(each.operations for each in held)
    good = sum(not each.problems for each in held)
    lines += ["", f"{good} of {len(held)} jobs as they should; {operations} operations on shared objects were judged."]
    return "\n".join(lines)


def _times(values: list[float], count: int) -> str:
    if not values:
        return "nobody needed to"
    seen = "" if len(values) == count else f" (in {len(values)})"
    return f"{statistics.median(values):.2f} s, {max(values):.2f} s{seen}"

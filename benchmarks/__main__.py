"""The command line of the harness; docs/benchmarks.md says how to read what it prints."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from benchmarks import profile, sitting
from benchmarks.catalogue import MEASURES, Measure, select
from benchmarks.contender import Contender
from benchmarks.framework import TENSORFLOW, WEFT
from benchmarks.peer import PYTHON_VARIABLE, peer_python
from benchmarks.picture import draw
from benchmarks.report import as_json, table


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser("python -m benchmarks", description="Measure weft and TensorFlow in alternation.")
    options.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="a measure or a family; may be repeated, * matches"
    )
    options.add_argument("--rounds", type=int, default=5, help="how often each contender takes its turn (5)")
    options.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    options.add_argument("--picture", type=Path, metavar="FILE", help="draw the ratios as SVG")
    options.add_argument("--profile", action="store_true", help="say where weft's time goes instead of comparing")
    options.add_argument("--framework", choices=(WEFT, TENSORFLOW), help="measure only this one")
    options.add_argument("--peer-python", metavar="PATH", help=f"an interpreter with TensorFlow (or {PYTHON_VARIABLE})")
    options.add_argument("--list", action="store_true", help="list the measures and leave")
    return options


def main(arguments: list[str] | None = None) -> int:
    options_parser = parser()
    options = options_parser.parse_args(arguments)
    # Leaving by an exception lets every running program be killed on the way out.
    signal.signal(signal.SIGTERM, _leave)
    try:
        measures = select(options.only)
    except ValueError as error:
        options_parser.error(str(error))
    if options.list:
        print("\n".join(f"{each.name:<20} {each.program.partition(':')[0]:<22} {each.title}" for each in MEASURES))
        return 0
    if options.profile:
        return _profile(measures)
    return _compare(options, measures)


def _leave(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


def _compare(options: argparse.Namespace, measures: list[Measure]) -> int:
    """Hold a sitting, print and write it; the status says whether every contender gave every figure."""
    contenders = []
    if options.framework != TENSORFLOW:
        contenders.append(Contender(WEFT, sys.executable))
    if options.framework != WEFT:
        contenders.append(Contender(TENSORFLOW, peer_python(options.peer_python)))
    held = sitting.hold(contenders, measures, rounds=options.rounds, tell=_tell)
    print(table(held))
    if options.json:
        options.json.write_text(json.dumps(as_json(held), indent=1, ensure_ascii=False) + "\n")
    if options.picture:
        options.picture.write_text(draw(held))
    failed = any(row.reason(contender.name) for row in held.rows for contender in contenders)
    return 1 if failed else 0


def _profile(measures: list[Measure]) -> int:
    """Run each measure on weft under the profiler and print where its processes' time went."""
    contender = Contender(WEFT, sys.executable)
    failed = False
    for measure in measures:
        with tempfile.TemporaryDirectory() as directory:
            outcome = contender.run(measure, Path(directory))
            reports = profile.read_reports(Path(directory))
        print(f"{measure.title}{f': {outcome.reason}' if outcome.reason else ''}")
        print("\n".join(line for report in reports for line in profile.lines(report)))
        failed |= outcome.sample is None
    return 1 if failed else 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

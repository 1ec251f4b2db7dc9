"""The command line of the harness; docs/benchmarks.md says how to read what it prints."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from benchmarks import (
    document,
    gpu,
    growth,
    growth_picture,
    machines,
    metrics_cost,
    overlap,
    picture,
    profile,
    report,
    sitting,
    wakeups,
)
from benchmarks.catalogue import MEASURES, UnknownNameError, select
from benchmarks.contender import Contender
from benchmarks.curves import CURVES, select_curves
from benchmarks.framework import ORIGINAL, ROOT, TENSORFLOW, WEFT
from benchmarks.growth import Growth
from benchmarks.peer import ORIGINAL_VARIABLE, PYTHON_VARIABLE, original_python, peer_python
from benchmarks.sitting import Sitting

ROUNDS, GROWTH_ROUNDS = 5, 3


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser("python -m benchmarks", description="Measure weft and TensorFlow in alternation.")
    mode = options.add_mutually_exclusive_group()
    mode.add_argument("--growth", action="store_true", help="measure how cost grows instead")
    mode.add_argument("--overlap", action="store_true", help="show what sending gradients while computing gains")
    mode.add_argument("--gpu", action="store_true", help="measure training steps on a GPU against bare JAX")
    mode.add_argument(
        "--wakeups", action="store_true", help="count waits, system calls, messages and bytes of a step, beside the least"
    )
    mode.add_argument("--metrics", action="store_true", help="measure what it costs that tasks' metrics are read, weft only")
    mode.add_argument("--profile", action="store_true", help="say where weft's time goes instead of comparing")
    mode.add_argument(
        "--machines",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="put the ratios of JSON files side by side, one for each machine",
    )
    mode.add_argument("--list", action="store_true", help="list the measures and curves, and leave")
    options.add_argument(
        "--only",
        action="extend",
        type=lambda names: [name.strip() for name in names.split(",")],
        default=[],
        metavar="NAMES",
        help="measures, families or curves, by commas; may be repeated, * matches",
    )
    options.add_argument(
        "--rounds", type=int, help=f"how often each contender takes its turn ({ROUNDS}; in the other modes {GROWTH_ROUNDS})"
    )
    options.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured")
    options.add_argument("--picture", type=Path, metavar="FILE", help="draw it as SVG")
    options.add_argument("--into", type=Path, metavar="FILE", help="put picture and figures into this Markdown file")
    options.add_argument(
        "--publish", action="store_true", help="write JSON, picture and figures to where the project's documents show them"
    )
    options.add_argument("--redraw", type=Path, metavar="FILE", help="take the figures of a JSON file instead of measuring")
    options.add_argument("--device", choices=("gpu", "cpu"), default="gpu", help="where --gpu computes; cpu only tries it")
    options.add_argument("--framework", choices=(WEFT, TENSORFLOW), help="measure only this one")
    options.add_argument("--peer-python", metavar="PATH", help=f"an interpreter with TensorFlow (or {PYTHON_VARIABLE})")
    options.add_argument(
        "--original-python",
        metavar="PATH",
        help=f"an interpreter with TensorFlow 1.15, a second peer of training and client measures (or {ORIGINAL_VARIABLE})",
    )
    return options


def main(arguments: list[str] | None = None) -> int:
    options_parser = parser()
    options = options_parser.parse_args(arguments)
    if options.redraw and options.gpu:
        options_parser.error("--gpu has no picture to draw again from --redraw")
    # Leaving by an exception lets every running program be killed on the way out.
    signal.signal(signal.SIGTERM, _leave)
    if options.publish:
        _publish(options)
    try:
        if options.list:
            return _list()
        if options.growth:
            return _grow(options)
        if options.gpu:
            return _gpu(options)
        if options.overlap:
            return _overlap(options)
        if options.wakeups:
            return _wakeups(options)
        if options.metrics:
            return _metrics(options)
        if options.machines:
            return _machines(options)
        return _profile(options) if options.profile else _compare(options)
    except UnknownNameError as error:
        options_parser.error(str(error))


def _leave(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


def _mode(options: argparse.Namespace) -> str:
    modes = {"growth": options.growth, "overlap": options.overlap, "gpu": options.gpu, "wakeups": options.wakeups}
    modes |= {"metrics": options.metrics, "machines": options.machines}
    return next((mode for mode, is_chosen in modes.items() if is_chosen), "benchmarks")


def _publish(options: argparse.Namespace) -> None:
    name, docs = _mode(options), ROOT / "docs"
    if name != "machines":
        options.json = options.json or docs / f"{name}.json"
    if name in ("benchmarks", "growth", "overlap"):
        options.picture = options.picture or docs / f"{name}.svg"
    options.into = options.into or (ROOT / "README.md" if name == "benchmarks" else docs / "benchmarks.md")


def _list() -> int:
    print("\n".join(f"{each.name:<20} {each.program.partition(':')[0]:<22} {each.title}" for each in MEASURES))
    print("\n".join(f"{each.name:<20} {'--growth':<22} {each.panels[0].title}, against {each.along}" for each in CURVES))
    return 0


def _contenders(options: argparse.Namespace) -> list[Contender]:
    contenders = []
    if options.framework != TENSORFLOW:
        contenders.append(Contender(WEFT, sys.executable))
    if options.framework != WEFT:
        contenders.append(Contender(TENSORFLOW, peer_python(options.peer_python)))
    return contenders


def _comparing(options: argparse.Namespace) -> list[Contender]:
    """The contenders of the table: TensorFlow 1.15 too, where there is one."""
    contenders = _contenders(options)
    original = original_python(options.original_python)
    if original and not options.framework:
        contenders.append(Contender(ORIGINAL, original))
    return contenders


def _compare(options: argparse.Namespace) -> int:
    """Hold a sitting, print and write it; the status says whether every contender gave every figure."""
    held = _sitting(options)
    print(report.table(held))
    _write(options, report.as_json(held), lambda: picture.draw(held))
    _write_into(options, document.table(held), document.described(held))
    failed = any(row.reason(contender.name) for row in held.rows for contender in held.contenders)
    return 1 if failed else 0


def _sitting(options: argparse.Namespace) -> Sitting:
    if options.redraw:
        return report.from_json(json.loads(options.redraw.read_text()))
    measures = select(options.only)
    return sitting.hold(_comparing(options), measures, rounds=options.rounds or ROUNDS, tell=_tell)


def _grow(options: argparse.Namespace) -> int:
    """Measure how cost grows, print and write it; the status says whether every point was found."""
    grown = _growth(options)
    words = growth.in_words(grown)
    print(words)
    _write(options, growth.as_json(grown), lambda: growth_picture.draw(grown))
    _write_into(options, document.as_printed(words), "How cost grows with tasks, variables, nodes, clients, steps and messages")
    return 1 if any(curve.reasons for curve in grown.curves) else 0


def _growth(options: argparse.Namespace) -> Growth:
    if options.redraw:
        return growth.from_json(json.loads(options.redraw.read_text()))
    curves = select_curves(options.only)
    return growth.hold(_contenders(options), curves, rounds=options.rounds or GROWTH_ROUNDS, tell=_tell)


def _overlap(options: argparse.Namespace) -> int:
    """Trace and time a backward pass whose gradients are sent; the status says whether every contender gave its figures."""
    if options.redraw:
        held = overlap.from_json(json.loads(options.redraw.read_text()))
    else:
        held = overlap.hold(_contenders(options), rounds=options.rounds or GROWTH_ROUNDS, tell=_tell)
    words = overlap.in_words(held)
    print(words)
    _write(options, overlap.as_json(held), lambda: overlap.draw(held))
    _write_into(options, document.as_printed(words), "What worker and parameter server do in a traced step")
    return 1 if any(found.reasons for found in held.widths) else 0


def _wakeups(options: argparse.Namespace) -> int:
    """Count what steps cost any machine; the status says whether every contender gave its counts."""
    if options.redraw:
        held = wakeups.from_json(json.loads(options.redraw.read_text()))
    else:
        programs = wakeups.select(options.only)
        held = wakeups.hold(_comparing(options), programs, rounds=options.rounds or GROWTH_ROUNDS, tell=_tell)
    words = wakeups.in_words(held)
    print(words)
    _write(options, wakeups.as_json(held), None)
    _write_into(options, document.as_printed(words), "")
    return 1 if any(row.reasons for row in held.rows) else 0


def _metrics(options: argparse.Namespace) -> int:
    """Measure rows without and with metrics; the status says whether every row gave its figures."""
    if options.redraw:
        held = metrics_cost.from_json(json.loads(options.redraw.read_text()))
    else:
        measures = metrics_cost.choose(options.only)
        held = metrics_cost.hold(Contender(WEFT, sys.executable), measures, rounds=options.rounds or ROUNDS, tell=_tell)
    words = metrics_cost.in_words(held)
    print(words)
    _write(options, metrics_cost.as_json(held), None)
    _write_into(options, document.as_printed(words), "")
    return 1 if any(not row.plain for row in held.rows) else 0


def _machines(options: argparse.Namespace) -> int:
    """Print and write the ratios of sittings that were held on several machines; nothing is measured."""
    words = machines.table([report.from_json(json.loads(file.read_text())) for file in options.machines])
    print(words)
    _write_into(options, words, "")
    return 0


def _gpu(options: argparse.Namespace) -> int:
    """Time weft and bare JAX on an accelerator; the status says whether there is one and every program gave its figures."""
    contender = Contender(WEFT, sys.executable, sees_accelerators=options.device == "gpu")
    networks = gpu.select(options.only)
    try:
        timed = gpu.hold(contender, networks, rounds=options.rounds or GROWTH_ROUNDS, tell=_tell)
    except gpu.NoAcceleratorError as error:
        print(error, file=sys.stderr)
        return 1
    words = gpu.in_words(timed)
    print(words)
    _write(options, gpu.as_json(timed), None)
    _write_into(options, document.as_printed(words), "")
    return 1 if any(each.reasons for each in timed) else 0


def _write(options: argparse.Namespace, figures: dict[str, Any], draw: Callable[[], str] | None) -> None:
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    if options.picture and draw:
        options.picture.write_text(draw())


def _write_into(options: argparse.Namespace, figures: str, description: str) -> None:
    if options.into:
        link = os.path.relpath(options.picture, options.into.parent) if options.picture else None
        shown = document.folded(figures, link, description)
        options.into.write_text(document.placed(options.into.read_text(), _mode(options), shown))


def _profile(options: argparse.Namespace) -> int:
    """Run each measure on weft under the profiler and print where its processes' time went."""
    contender = Contender(WEFT, sys.executable)
    failed = False
    for measure in select(options.only):
        with tempfile.TemporaryDirectory() as directory:
            outcome = contender.run(measure, Path(directory))
            reports = profile.read_reports(Path(directory))
        print(f"{measure.title}{f': {outcome.reason}' if outcome.reason else ''}")
        print("\n".join(line for report_ in reports for line in profile.lines(report_)))
        failed |= outcome.sample is None
    return 1 if failed else 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""`weft top`: the tasks of a cluster in a terminal, again and again."""

from __future__ import annotations

import argparse
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Final

from weft.cli import target
from weft.cli.columns import aligned, size_text
from weft.cli.option_values import seconds_above_0
from weft.cli.parser import OneLineParser
from weft.cli.watching.cluster_view import ClusterView, TaskView
from weft.errors import OpError

_DESCRIPTION: Final = """\
Show the tasks of a cluster, every --interval seconds until Ctrl-C: steps a
second and how long they take, parts of steps, CPUs, memory, what goes over the
network, what variables take, how stale updates are, and for whom steps wait.
Tasks that do not answer are shown with the reason. The exit code is 1 when the
task that is named does not answer.
"""
_HEAD: Final = (
    "TASK", "STATE", "STEPS/S", "STEP", "PARTS/S", "CPUS", "MEMORY", "SENT/S", "RECEIVED/S", "QUEUED", "VARIABLES", "WAITS FOR",
)  # fmt: skip
_MOST_UPDATES: Final = 4
_MOST_CHARACTERS: Final = 160
"""Of a failure: a message's first words say what it is."""
_CLEAR: Final = "\x1b[H\x1b[2J"


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("target", metavar="TARGET", help=target.HELP)
    parser.add_argument("--interval", type=seconds_above_0, default=2.0, metavar="S", help="seconds between two looks (2)")
    parser.add_argument("--once", action="store_true", help="print one table, of one interval, and end")
    parser.add_argument(
        "--timeout", type=seconds_above_0, default=2.0, metavar="S", help="seconds that a task has to answer (2)"
    )
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    view = ClusterView(target.address_of(arguments.target, parser), arguments.timeout)
    pause = threading.Event()
    try:
        view.open()
        view.look()
        while not pause.wait(arguments.interval):
            view.look()
            text = "\n".join(table(view))
            print(f"{_CLEAR}{text}" if sys.stdout.isatty() and not arguments.once else f"{text}\n", flush=True)
            if arguments.once:
                break
    except OpError as error:
        print(f"weft top: {arguments.target}: {error.message}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, BrokenPipeError):
        return 0
    finally:
        view.close()
    return 0


def table(view: ClusterView) -> Iterator[str]:
    """The lines of a table of what was seen last."""
    yield from aligned(_HEAD, [_row(task) for task in view.tasks.values()])
    for task in view.tasks.values():
        if task.missing:
            yield f"{task.name} at {task.address} does not answer: {' '.join(task.missing.split())}"
        elif task.report is not None and task.report.failures:
            failure = task.report.failures[-1]
            cause = textwrap.shorten(failure.message, _MOST_CHARACTERS, placeholder=" ...")
            yield f"{task.name}: {task.report.failed_steps} steps failed, the last by {failure.kind}: {cause}"
    for name, update in view.late_updates()[:_MOST_UPDATES]:
        has = f"{update.count} of {update.needed} gradients"
        yield f"{name}: {update.name!r} has {has} for step {update.step}; missing: {update.missing_text}"


def _row(task: TaskView) -> list[str]:
    report, now = task.report, task.now
    if report is None or task.missing:
        return [task.name, task.state, *[""] * (len(_HEAD) - 2)]
    queued = sum(peer.queued_bytes for peer in report.peers)
    return [
        task.name, task.state, _number(now.steps), "" if now.step_s is None else duration_text(now.step_s), _number(now.parts),
        f"{now.cpus:.2f}", size_text(report.resident_bytes), size_text(int(now.sent_bytes)),
        size_text(int(now.received_bytes)), size_text(queued) if queued else "", size_text(report.variable_bytes),
        now.waiting_most,
    ]  # fmt: skip


def _number(value: float) -> str:
    return "" if value == 0 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def duration_text(seconds: float) -> str:
    """A time in the unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"

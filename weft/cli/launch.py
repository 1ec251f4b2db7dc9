"""`weft launch`: start a program as every task of a cluster on this machine, and see the job through to its end."""

from __future__ import annotations

import argparse
import asyncio
import math

from weft.cli.cluster_job import ClusterJob, LaunchedTask
from weft.cli.display import display_for_this_terminal
from weft.cli.job_runner import JobRunner
from weft.cli.parser import OneLineParser
from weft.cli.program_file import check_program
from weft.platform.free_ports import free_ports

_DESCRIPTION = """\
Start a cluster of processes on this machine: PROGRAM runs once per task, with
--ps_hosts, --worker_hosts, --job_name and --task_index before its own arguments
and TF_CONFIG in its environment. The job ends when the chief, the workers and
the evaluator have ended, but for those that only serve the others by then, as
parameter servers do (`server.join()`); what still runs is stopped. If a task
fails, the others are stopped and its exit code is returned. Ctrl-C stops them
all. Options of PROGRAM stand after it, those of `weft launch` before it.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("--ps", type=_count, default=0, metavar="N", help="parameter servers (default 0)")
    parser.add_argument("--worker", type=_count, default=1, metavar="N", help="workers (default 1)")
    parser.add_argument("--chief", type=_none_or_one, default=0, metavar="N", help="chiefs, 0 or 1 (default 0)")
    parser.add_argument("--evaluator", type=_none_or_one, default=0, metavar="N", help="evaluators, 0 or 1 (default 0)")
    parser.add_argument(
        "--grace", type=_seconds, default=10.0, metavar="S", help="seconds a task has to stop, then it is killed (10)"
    )
    parser.add_argument("--until", metavar="TASK", help="end the job when this task has ended, such as worker:0")
    parser.add_argument("--no-flags", action="store_true", help="pass TF_CONFIG only, no flags")
    parser.add_argument("program", metavar="PROGRAM", help="the Python file to run")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="...", help="arguments of PROGRAM")
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    counts = {job: getattr(arguments, job) for job in ("ps", "chief", "worker", "evaluator")}
    if not any(counts.values()):
        parser.error("there is no task to start: --ps, --worker, --chief and --evaluator are all 0")
    check_program(arguments.program, parser)
    try:
        ports = free_ports(sum(counts.values()))
    except OSError as error:
        parser.error(str(error))
    job = ClusterJob.on_ports(counts, ports, arguments.program, arguments.args, flags=not arguments.no_flags)
    until = None if arguments.until is None else _task(arguments.until, job, parser)
    with display_for_this_terminal([task.name for task in job.tasks]) as display:
        for hint in _hints(arguments.args, parser):
            display.note(hint)
        return asyncio.run(JobRunner(job, display, arguments.grace, until).run())


def _task(name: str, job: ClusterJob, parser: OneLineParser) -> LaunchedTask:
    found = {task.name: task for task in job.tasks}
    if name not in found:
        parser.error(f"--until {name}: there is no such task, only {', '.join(found)}")
    return found[name]


def _hints(arguments: list[str], parser: OneLineParser) -> list[str]:
    """What to say of the program's arguments that look like the launcher's own."""
    before_end = arguments[: arguments.index("--")] if "--" in arguments else arguments
    alike = [each for each in before_end if each.startswith("--") and each.partition("=")[0] in parser.options]
    return [f"{each} stands after PROGRAM, so the program gets it; before PROGRAM it would be the launcher's" for each in alike]


def _count(text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = -1
    if count < 0:
        raise argparse.ArgumentTypeError(f"expected a number of tasks, 0 or more, got {text!r}")
    return count


def _none_or_one(text: str) -> int:
    if text not in ("0", "1"):
        raise argparse.ArgumentTypeError(f"a cluster has at most one, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"expected seconds, 0 or more, got {text!r}")
    return seconds

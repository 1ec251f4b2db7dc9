"""`weft launch`: start a program as every task of a cluster on this machine, and see the job through to its end."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys

from weft.cli.cluster_job import ClusterJob, LaunchedTask
from weft.cli.display import Display, display_for_this_terminal
from weft.cli.host_places import hosts_of
from weft.cli.hosts_job import HostsJob
from weft.cli.job_options import add_job_options, job_from
from weft.cli.job_runner import JobRunner
from weft.cli.launch_page import WatchedDisplay
from weft.cli.on_ray import RayRunner, ray_module
from weft.cli.option_values import port, seconds
from weft.cli.parser import OneLineParser
from weft.cli.program_file import check_python
from weft.errors import OpError
from weft.jobs.description import JobDescription, JobError
from weft.platform.hosts.free_ports import free_ports
from weft.platform.machine.installed_gpus import installed_gpus

_DESCRIPTION = """\
Start a cluster of processes on this machine: PROGRAM runs once per task, with
--ps_hosts, --worker_hosts, --job_name and --task_index before its own arguments
and TF_CONFIG in its environment. The job ends when the chief, the workers and
the evaluator have ended, but for those that only serve the others by then, as
parameter servers do (`server.join()`); what still runs is stopped. If a task
fails, the others are stopped and its exit code is returned, unless --restart
starts it again. Ctrl-C stops them all. Options of PROGRAM stand after it, those
of `weft launch` before it. One that says `import tensorflow as tf` finds weft, as
under `weft run`.
"""


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument(
        "--grace", type=seconds, default=10.0, metavar="S", help="seconds a task has to stop, then it is killed (10)"
    )
    parser.add_argument("--until", metavar="TASK", help="end the job when this task has ended, such as worker:0")
    parser.add_argument("--watch", action="store_true", help="serve the live page of `weft watch` for this job, and say where")
    parser.add_argument("--watch-port", type=port, metavar="PORT", help="as --watch, on this port")
    parser.add_argument("--on", choices=["ray"], help="start the tasks in a Ray cluster instead of on this machine")
    parser.add_argument("--ray-address", metavar="HOST:PORT", help="the Ray cluster's (that of this machine)")
    parser.add_argument("--hosts", metavar="A,B:4,...", help="start the tasks on these hosts by ssh; B takes 4 of them")
    parser.add_argument("--python", metavar="FILE", help="the interpreter on those hosts (this one)")
    parser.add_argument("--port-base", type=port, metavar="PORT", help="the first port on each of those hosts (any)")
    add_job_options(parser)
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    described = job_from(arguments, parser)
    _check_where(arguments, parser)
    if arguments.python is None:
        check_python(described.program, parser)
    if arguments.on == "ray":
        return _run_on_ray(described, arguments, parser)
    try:
        if arguments.hosts is not None:
            job: ClusterJob = _on_hosts(described, arguments)
        else:
            addresses = (f"127.0.0.1:{each}" for each in free_ports(described.task_count))
            job = ClusterJob.of(described, addresses, _gpus(described, parser))
    except (JobError, OpError, OSError) as error:
        parser.error(str(error))
    until = None if arguments.until is None else _task(arguments.until, job, parser)
    with display_for_this_terminal([task.name for task in job.started]) as inner, _watched(inner, arguments) as display:
        for hint in _hints(arguments.args, parser):
            display.note(hint)
        member = next((task.address for task in job.started if task.address is not None), None)
        if _is_watched(arguments) and member is not None:
            display.follow(member, job.token)
        try:
            return asyncio.run(JobRunner(job, display, arguments.grace, until, described.restart.times).run())
        except* JobError as errors:
            reason = str(errors.exceptions[0])
    parser.error(reason)


def _check_where(arguments: argparse.Namespace, parser: OneLineParser) -> None:
    """End the command when options are for another place than that of the tasks: nobody would heed them."""
    if arguments.on == "ray" and arguments.hosts is not None:
        parser.error("--on ray and --hosts: Ray has hosts of its own")
    if arguments.on is None and arguments.ray_address is not None:
        parser.error("--ray-address is for a job on Ray: add --on ray")
    for option in ("python", "port_base"):
        if arguments.hosts is None and getattr(arguments, option) is not None:
            parser.error(f"--{option.replace('_', '-')} is for tasks on other hosts: add --hosts A,B")


def _on_hosts(job: JobDescription, arguments: argparse.Namespace) -> HostsJob:
    return HostsJob.on(job, hosts_of(arguments.hosts), arguments.python or sys.executable, arguments.port_base)


def _is_watched(arguments: argparse.Namespace) -> bool:
    return arguments.watch or arguments.watch_port is not None


def _watched(inner: Display, arguments: argparse.Namespace) -> WatchedDisplay:
    return WatchedDisplay(inner, arguments.watch_port or 0)


def _run_on_ray(job: JobDescription, arguments: argparse.Namespace, parser: OneLineParser) -> int:
    if arguments.until is not None:
        parser.error("--until: a job on Ray ends when its tasks do")
    if job.started != job.counts:
        parser.error("--start: on Ray all tasks are started with the job")
    try:
        ray = ray_module()
        ray.init(address=arguments.ray_address or "auto", log_to_driver=False, logging_level="ERROR")
    except (JobError, ConnectionError, ValueError) as error:
        parser.error(str(error).partition("\n")[0])
    names = [f"{role}:{index}" for role, count in job.counts.items() for index in range(count)]
    try:
        with display_for_this_terminal(names) as inner, _watched(inner, arguments) as display:
            return RayRunner(job, display, arguments.grace, display.follow if _is_watched(arguments) else None).run()
    except JobError as error:
        parser.error(str(error))
    finally:
        ray.shutdown()


def _gpus(job: JobDescription, parser: OneLineParser) -> list[str]:
    """The GPUs of this machine, when tasks ask for some; ends the command when they are too few."""
    asked = sum(job.role(name).gpus * count for name, count in job.counts.items())
    if not asked:
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = [each for each in visible.split(",") if each] if visible is not None else installed_gpus()
    if len(found) < asked:
        parser.error(f"the tasks ask for {asked} GPUs together, and this machine has {len(found)}; see --gpus")
    return found


def _task(name: str, job: ClusterJob, parser: OneLineParser) -> LaunchedTask:
    found = {task.name: task for task in job.started}
    if name not in found:
        parser.error(f"--until {name}: there is no such task, only {', '.join(found)}")
    return found[name]


def _hints(arguments: list[str], parser: OneLineParser) -> list[str]:
    """What to say of the program's arguments that look like the launcher's own."""
    before_end = arguments[: arguments.index("--")] if "--" in arguments else arguments
    alike = [each for each in before_end if each.startswith("--") and each.partition("=")[0] in parser.options]
    return [f"{each} stands after PROGRAM, so the program gets it; before PROGRAM it would be the launcher's" for each in alike]

"""`weft task`: run a program as the task that a scheduler has started this process for."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Final

from weft.cli import target
from weft.cli.job_options import add_job_options, job_from
from weft.cli.joining import joined_place
from weft.cli.option_values import address, port, seconds, seconds_above_0, signal_names
from weft.cli.parser import OneLineParser
from weft.cli.pod_credentials import own_credentials
from weft.cli.program_imports import program_words
from weft.distributed.server.announcements import VARIABLE as ANNOUNCE_VARIABLE
from weft.errors import DeadlineExceededError, OpError, UnavailableError
from weft.jobs.description import ROLES, JobDescription, JobError
from weft.jobs.scheduled_place import scheduled_place
from weft.jobs.task_place import TaskPlace
from weft.platform.hosts.own_name import wait_for_name
from weft.platform.process.stop_signals import GRACE_VARIABLE, VARIABLE
from weft.protocol.job_watch import TELLS_END
from weft.protocol.limits import VARIABLE as LIMITS_VARIABLE

_DESCRIPTION = """\
Run PROGRAM as one task of a cluster, of which the scheduler that has started
this process tells: Slurm (srun weft task ...), Kubernetes (the pods of weft k8s
manifest), or whoever sets TF_CONFIG. PROGRAM gets the cluster as under weft
launch: as flags and in TF_CONFIG. With Slurm the roles take the tasks of the
step in the order ps, chief, worker, evaluator; without --worker, the workers
are those that the others leave.

With --join it is a further task of a cluster that runs already: that of --as, or
the last worker that is not there. Where the cluster has another address for it
than this host can have, --address is its own, which it announces to the others.

A session waits --wait seconds for tasks that do not answer: those of a job that is
over never do, and a task that comes back then ends with a message that says so.

SIGTERM and SIGUSR1 announce the end: training stops after the step that runs,
the chief saves the model, and the exit code is 128 and the signal's number.
"""
_SIGNALS: Final = "SIGTERM,SIGUSR1"
_NAME_S: Final = 300.0


def add_arguments(parser: OneLineParser) -> None:
    """Describe the command."""
    parser.description = _DESCRIPTION
    parser.add_argument("--port-base", type=port, metavar="PORT", help="the first port on each node (after the job's number)")
    told = f"signals that announce the end ({_SIGNALS})"
    parser.add_argument("--signals", type=signal_names, default=_SIGNALS, metavar="NAMES", help=told)
    parser.add_argument(
        "--grace", type=seconds, default=25.0, metavar="S", help="seconds between such a signal and the kill (25)"
    )
    parser.add_argument(
        "--wait", type=seconds_above_0, default=600.0, metavar="S", help="seconds to wait for tasks that do not answer (600)"
    )
    parser.add_argument("--join", metavar="TARGET", help="a task of a running cluster, grpc://HOST:PORT, to join as one more")
    parser.add_argument("--as", dest="name", metavar="ROLE:N", help="which task to be (the last worker that is not there)")
    parser.add_argument(
        "--address", type=address, metavar="HOST:PORT", help="where the task that joins listens (where the cluster has it)"
    )
    add_job_options(parser)
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> int:
    job = job_from(arguments, parser)
    for option in ("name", "address"):
        if getattr(arguments, option) is not None and arguments.join is None:
            parser.error(f"{'--as' if option == 'name' else '--address'} is for a task that joins a cluster: add --join TARGET")
    try:
        place = _place(arguments, job, parser)
        if place.address is not None:
            waited_s = wait_for_name(place.address.rpartition(":")[0], _NAME_S, _tell)
            if waited_s >= 1:
                _tell(f"this task's name resolved after {waited_s:.0f} s")
        own = own_credentials(os.environ, place.role, place.index)
    except (UnavailableError, DeadlineExceededError) as error:
        _tell(f"{arguments.join}: {error.message}")
        return 1
    except (JobError, TimeoutError) as error:
        parser.error(str(error))
    except OpError as error:
        parser.error(error.message)
    # What the environment says itself stands behind, and wins.
    limits = ",".join(filter(None, (f"absent_task_s={arguments.wait:g}", os.environ.get(LIMITS_VARIABLE))))
    told = {
        "TF_CONFIG": place.tf_config(),
        VARIABLE: arguments.signals,
        GRACE_VARIABLE: str(arguments.grace),
        LIMITS_VARIABLE: limits,
    }
    if place.address is not None:
        # Of a task of the cluster, which this program is once, its peers wait for the end.
        told[TELLS_END] = os.environ.get(TELLS_END, "1")
    if arguments.address is not None:
        told[ANNOUNCE_VARIABLE] = "1"
    environment = {**os.environ, **job.environment_of(place.role), **own, **told, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, *program_words(job.program), *(place.flags() if job.flags else ()), *job.arguments]
    # The program takes this process's place, so signals reach it and its exit code is the task's.
    os.execve(sys.executable, command, environment)


def _tell(text: str) -> None:
    print(f"weft task: {text}", file=sys.stderr, flush=True)


def _place(arguments: argparse.Namespace, job: JobDescription, parser: OneLineParser) -> TaskPlace:
    if arguments.join is not None:
        return joined_place(target.address_of(arguments.join, parser), arguments.name, arguments.address)
    later = {role: count - job.started[role] for role, count in job.counts.items() if count > job.started[role]}
    return scheduled_place(os.environ, _counts(arguments, job), arguments.port_base, later)


def _counts(arguments: argparse.Namespace, job: JobDescription) -> dict[str, int | None]:
    """The tasks by role; None for the workers where nobody said how many."""
    is_told = arguments.worker is not None or arguments.job is not None
    return {role: None if role == "worker" and not is_told else job.role(role).started for role in ROLES}

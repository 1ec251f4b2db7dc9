"""`weft task`: run a program as the task that a scheduler has started this process for."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Final, NoReturn

from weft.cli.job_options import add_job_options, job_from
from weft.cli.option_values import port, seconds, signal_names
from weft.cli.parser import OneLineParser
from weft.jobs.description import ROLES, JobDescription, JobError
from weft.jobs.scheduled_place import scheduled_place
from weft.platform.own_name import wait_for_name
from weft.platform.stop_signals import GRACE_VARIABLE, VARIABLE

_DESCRIPTION = """\
Run PROGRAM as one task of a cluster, of which the scheduler that has started
this process tells: Slurm (srun weft task ...), Kubernetes (the pods of weft k8s
manifest), or whoever sets TF_CONFIG. PROGRAM gets the cluster as under weft
launch: as flags and in TF_CONFIG. With Slurm the roles take the tasks of the
step in the order ps, chief, worker, evaluator; without --worker, the workers
are those that the others leave.

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
    add_job_options(parser)
    parser.set_defaults(run=lambda arguments: _run(arguments, parser))


def _run(arguments: argparse.Namespace, parser: OneLineParser) -> NoReturn:
    job = job_from(arguments, parser)
    try:
        place = scheduled_place(os.environ, _counts(arguments, job), arguments.port_base)
        if place.address is not None:
            waited_s = wait_for_name(place.address.rpartition(":")[0], _NAME_S)
            if waited_s >= 1:
                print(f"weft task: this task's name resolved after {waited_s:.0f} s", file=sys.stderr, flush=True)
    except (JobError, TimeoutError) as error:
        parser.error(str(error))
    told = {"TF_CONFIG": place.tf_config(), VARIABLE: arguments.signals, GRACE_VARIABLE: str(arguments.grace)}
    environment = {**os.environ, **job.environment_of(place.role), **told, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, job.program, *(place.flags() if job.flags else ()), *job.arguments]
    # The program takes this process's place, so signals reach it and its exit code is the task's.
    os.execve(sys.executable, command, environment)


def _counts(arguments: argparse.Namespace, job: JobDescription) -> dict[str, int | None]:
    """The tasks by role; None for the workers where nobody said how many."""
    is_told = arguments.worker is not None or arguments.job is not None
    return {role: None if role == "worker" and not is_told else job.role(role).count for role in ROLES}

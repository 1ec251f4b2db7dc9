"""The description of a job as command-line options: of `weft launch`, and of what runs jobs elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from weft.cli.parser import OneLineParser
from weft.cli.program_file import check_program
from weft.jobs.description import POLICIES, ROLES, JobDescription, JobError, Restart, Role, check_environment, memory_bytes
from weft.jobs.job_file import read_job

_COUNTS: Final = {"ps": "parameter servers", "worker": "workers", "chief": "chiefs, 0 or 1", "evaluator": "evaluators, 0 or 1"}

_T = TypeVar("_T")


def add_job_options(parser: OneLineParser) -> None:
    """Add the options, then PROGRAM and its arguments."""
    parser.add_argument("--job", metavar="FILE", help="a job's description in TOML; options change what it says")
    for role, meaning in _COUNTS.items():
        default = 1 if role == "worker" else 0
        count = _none_or_one if role in ("chief", "evaluator") else _count
        parser.add_argument(f"--{role}", type=count, metavar="N", help=f"{meaning} (default {default})")
    parser.add_argument("--cpus", action="append", metavar="[ROLE=]N", help="cores of each task, or of a role's")
    parser.add_argument(
        "--memory", action="append", metavar="[ROLE=]BYTES", help="memory of each task, or of a role's, such as 8Gi"
    )
    parser.add_argument("--gpus", action="append", metavar="[ROLE=]N", help="GPUs of each task, or of a role's")
    parser.add_argument(
        "--env", action="append", metavar="[ROLE:]NAME=VALUE", help="an environment variable of the tasks, or of a role's"
    )
    parser.add_argument(
        "--start", action="append", metavar="[ROLE=]N", help="how many workers, or of a role, begin; the others may join (all)"
    )
    parser.add_argument("--restart", choices=POLICIES, help="what happens when a task fails (never: the job ends)")
    parser.add_argument("--max-restarts", type=_restarts, metavar="N", help="how often each task is started again (3)")
    parser.add_argument("--no-flags", action="store_true", help="pass TF_CONFIG only, no flags")
    parser.add_argument("program", metavar="PROGRAM", nargs="?", help="the Python file to run")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="...", help="arguments of PROGRAM")


def job_from(arguments: argparse.Namespace, parser: OneLineParser, *, is_here: bool = True) -> JobDescription:
    """The job that options and file describe; ends the command with one line when something is wrong.

    Args:
        arguments: what the options were parsed to.
        parser: the command's.
        is_here: whether the program is a file of this machine.
    """
    if not arguments.program and arguments.job is None:
        parser.error("the following arguments are required: PROGRAM")
    try:
        job = _changed(arguments, None if arguments.job is None else read_job(arguments.job, is_here=is_here))
    except JobError as error:
        parser.error(str(error))
    if is_here:
        check_program(job.program, parser)
    return job


def _changed(arguments: argparse.Namespace, told: JobDescription | None) -> JobDescription:
    """What the file told, with what the options say instead."""
    program = arguments.program if arguments.program is not None or told is None else told.program
    counts = {role: getattr(arguments, role) for role in ROLES}
    roles = {role: _role(role, count, told) for role, count in counts.items()}
    cpus = _by_role(arguments.cpus, "--cpus", _cores)
    memory = _by_role(arguments.memory, "--memory", _memory)
    gpus = _by_role(arguments.gpus, "--gpus", _gpus)
    start = _by_role(arguments.start, "--start", _whole, ("worker",))
    common, own = _environment(arguments.env or [])
    changed = tuple(
        replace(
            role,
            cpus=cpus.get(name, role.cpus),
            memory=memory.get(name, role.memory),
            gpus=gpus.get(name, role.gpus),
            environment={**role.environment, **own.get(name, {})},
            start=start.get(name, role.start),
        )
        for name, role in roles.items()
    )
    restart = told.restart if told else Restart()
    limited = arguments.max_restarts is not None
    # Who says how often wants tasks to be started again.
    policy = arguments.restart or ("on-failure" if limited else restart.policy)
    return JobDescription(
        program,
        changed,
        tuple(arguments.args) if arguments.program is not None or told is None else told.arguments,
        {**(told.environment if told else {}), **common},
        Restart(policy, arguments.max_restarts if limited else restart.limit),
        flags=not arguments.no_flags and (told is None or told.flags),
    )


def _role(name: str, count: int | None, told: JobDescription | None) -> Role:
    if told is not None:
        role = told.role(name)
        return role if count is None else replace(role, count=count)
    return Role(name, count if count is not None else int(name == "worker"))


def _memory(text: str) -> str:
    memory_bytes(text, "--memory")
    return text


def _by_role(
    texts: list[str] | None, option: str, convert: Callable[[str], _T], default: Sequence[str] = ROLES
) -> dict[str, _T]:
    """What an option says by role; without one it is for all, or those of `default`."""
    found: dict[str, _T] = {}
    for text in texts or []:
        role, separator, value = text.rpartition("=")
        for name in [_known_role(role, option)] if separator else default:
            try:
                found[name] = convert(value)
            except JobError:
                raise
            except ValueError:
                raise JobError(f"{option}: expected a number, or ROLE=number, got {text!r}") from None
    return found


def _environment(texts: list[str]) -> tuple[dict[str, str], Mapping[str, dict[str, str]]]:
    common: dict[str, str] = {}
    own: dict[str, dict[str, str]] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise JobError(f"--env: expected NAME=VALUE, got {text!r}")
        role, colon, inner = name.partition(":")
        check_environment({inner if colon else name: value}, "--env")
        if colon:
            own.setdefault(_known_role(role, "--env"), {})[inner] = value
        else:
            common[name] = value
    return common, own


def _known_role(name: str, option: str) -> str:
    try:
        return Role(name).name
    except JobError as error:
        raise JobError(f"{option}: {error}") from None


def _cores(text: str) -> float:
    if not float(text) > 0:
        raise JobError(f"--cpus: expected a number of cores above 0, got {text!r}")
    return float(text)


def _whole(text: str) -> int:
    return int(text)


def _gpus(text: str) -> int:
    if int(text) < 0:
        raise JobError(f"--gpus: expected a number, 0 or more, got {text!r}")
    return int(text)


def _count(text: str) -> int:
    return _number(text, "tasks")


def _restarts(text: str) -> int:
    return _number(text, "restarts")


def _number(text: str, what: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"expected a number of {what}, 0 or more, got {text!r}")
    return number


def _none_or_one(text: str) -> int:
    if text not in ("0", "1"):
        raise argparse.ArgumentTypeError(f"a cluster has at most one, got {text!r}")
    return int(text)

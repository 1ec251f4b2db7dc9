"""The description of a job: its roles, what each task runs and needs, and what happens when one fails."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from weft.platform.hints.spelling import did_you_mean

ROLES: Final = ("ps", "chief", "worker", "evaluator")
"""The roles of a cluster's tasks, in the order in which tasks are numbered where one list has them all."""
POLICIES: Final = ("never", "on-failure")
MOST_TASKS: Final = 100_000
"""Beyond what any scheduler runs, and before the lists of addresses fill this host's memory."""
_AT_MOST_ONE: Final = ("chief", "evaluator")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MEMORY: Final = re.compile(r"(\d+(?:\.\d+)?)(|k|M|G|T|Ki|Mi|Gi|Ti)")
_UNITS: Final = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


class JobError(ValueError):
    """What is wrong with a job's description, in one line."""


@dataclass(frozen=True)
class Role:
    """The tasks of one role.

    Args:
        name: one of `ROLES`.
        count: how many there are.
        cpus: cores of each; None leaves it to the scheduler.
        memory: bytes of each, as a number with a unit such as `8Gi`; None leaves it to the scheduler.
        gpus: GPUs of each.
        environment: variables of these tasks, besides the job's.
        start: how many of them are started with the job; the others may join it later. None starts all.

    Raises:
        JobError: one of them cannot be.
    """

    name: str
    count: int = 1
    cpus: float | None = None
    memory: str | None = None
    gpus: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    start: int | None = None

    def __post_init__(self) -> None:
        if self.name not in ROLES:
            raise JobError(f"there is no role {self.name!r}, only {', '.join(ROLES)}.{did_you_mean(self.name, ROLES)}")
        if self.count < 0:
            raise JobError(f"{self.name}: expected a number of tasks, 0 or more, got {self.count}")
        if self.count > MOST_TASKS:
            raise JobError(f"{self.name}: expected at most {MOST_TASKS:,} tasks, got {self.count:,}")
        if self.name in _AT_MOST_ONE and self.count > 1:
            raise JobError(f"{self.name}: a cluster has at most one, got {self.count}")
        if self.cpus is not None and not 0 < self.cpus < math.inf:
            raise JobError(f"{self.name}: cpus: expected a number of cores above 0, got {self.cpus}")
        if self.memory is not None:
            memory_bytes(self.memory, f"{self.name}: memory")
        if self.gpus < 0:
            raise JobError(f"{self.name}: gpus: expected a number, 0 or more, got {self.gpus}")
        if self.start is not None and not 0 <= self.start <= self.count:
            raise JobError(
                f"{self.name}: start: expected a number from 0 to {self.count}, which there may be, got {self.start}"
            )
        check_environment(self.environment, self.name)

    @property
    def started(self) -> int:
        """How many tasks are started with the job."""
        return self.count if self.start is None else self.start


@dataclass(frozen=True)
class Restart:
    """What happens when a task fails.

    Args:
        policy: `never` ends the job, `on-failure` starts the task again.
        limit: how often, for each task; then its failure ends the job.

    Raises:
        JobError: there is no such policy, or the limit is negative.
    """

    policy: str = "never"
    limit: int = 3

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            meant = did_you_mean(self.policy, POLICIES)
            raise JobError(f"restart: there is no policy {self.policy!r}, only {', '.join(POLICIES)}.{meant}")
        if self.limit < 0:
            raise JobError(f"restart: limit: expected a number of restarts, 0 or more, got {self.limit}")

    @property
    def times(self) -> int:
        """How often a task that fails is started again."""
        return self.limit if self.policy == "on-failure" else 0


@dataclass(frozen=True)
class JobDescription:
    """A program and the tasks that it runs as, whatever starts them.

    Args:
        program: the Python file.
        roles: the roles, each once; those without tasks may be left out.
        arguments: the program's own arguments.
        environment: variables of all tasks.
        restart: what happens when a task fails.
        flags: whether tasks get the cluster as flags, besides TF_CONFIG.

    Raises:
        JobError: there is no task, or a role is there twice.
    """

    program: str
    roles: tuple[Role, ...]
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    restart: Restart = Restart()
    flags: bool = True

    def __post_init__(self) -> None:
        names = [role.name for role in self.roles]
        for name in names:
            if names.count(name) > 1:
                raise JobError(f"the role {name!r} is there {names.count(name)} times")
        if not self.task_count:
            raise JobError(f"there is no task to start: {_listed(['--' + name for name in names] or ['roles'])} 0")
        if not sum(self.started.values()):
            raise JobError("start: there is no task to start with")
        check_environment(self.environment, "environment")
        for what, text in (("program", self.program), *(("arguments", each) for each in self.arguments)):
            if "\0" in text:
                raise JobError(f"{what}: {text!r} has a zero byte, which no command line can have")

    @property
    def task_count(self) -> int:
        """How many tasks there are."""
        return sum(role.count for role in self.roles)

    @property
    def counts(self) -> dict[str, int]:
        """The number of tasks by role, in the order of `ROLES`, without roles that have none."""
        found = {role.name: role.count for role in self.roles}
        return {name: found[name] for name in ROLES if found.get(name)}

    @property
    def started(self) -> dict[str, int]:
        """The number of tasks that are started with the job, by role, as `counts`; 0 where all come later."""
        return {name: self.role(name).started for name in self.counts}

    def role(self, name: str) -> Role:
        """The role of this name; one without tasks when the job has none."""
        return next((role for role in self.roles if role.name == name), Role(name, 0))

    def environment_of(self, name: str) -> dict[str, str]:
        """The variables of a role's tasks; those of the job for a role that only a scheduler knows."""
        own = self.role(name).environment if name in ROLES else {}
        return {**self.environment, **own}


def memory_bytes(text: str, what: str = "memory") -> int:
    """The bytes that a number with a unit stands for, such as `8Gi` or `500M`; JobError for other text."""
    found = _MEMORY.fullmatch(text)
    if found is None or not float(found[1]):
        raise JobError(f"{what}: expected bytes above 0, such as 500M or 8Gi, got {text!r}")
    return int(float(found[1]) * _UNITS[found[2]])


def check_environment(variables: Mapping[str, str], what: str) -> None:
    """JobError unless all names can be those of environment variables, and all values their values."""
    for name, value in variables.items():
        if not _VARIABLE.fullmatch(name):
            expected = "letters, digits and underscores, no digit first, as in NAME=VALUE"
            raise JobError(f"{what}: {name!r} cannot be the name of an environment variable: expected {expected}")
        if "\0" in value:
            raise JobError(f"{what}: the value of {name} has a zero byte")


def _listed(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]} are all" if len(words) > 1 else f"{words[0]} is"

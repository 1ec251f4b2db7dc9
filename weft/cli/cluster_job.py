"""The job to be launched: its tasks, and for each its command line and its environment. Starts nothing."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from weft.cli.program_imports import program_words
from weft.jobs.description import JobDescription, Role
from weft.jobs.task_place import TaskPlace
from weft.platform.process.launcher_link import TaskNews

_HOST = "127.0.0.1"


@dataclass(frozen=True)
class LaunchedTask:
    """One process of the job; an evaluator has no address, as it is no member of the cluster."""

    job: str
    index: int
    address: str | None

    @property
    def name(self) -> str:
        """The name that output and messages carry, such as `worker:1`."""
        return f"{self.job}:{self.index}"


@dataclass(frozen=True)
class ClusterJob:
    """A program and the tasks that it runs as.

    Args:
        tasks: the tasks.
        program: the Python file that each task runs.
        arguments: the program's own arguments.
        flags: whether tasks get the cluster as flags, besides TF_CONFIG.
        environments: variables of tasks, by task.
        token: the cluster's, where it is not that of the launcher's environment.
        later: those of the tasks that are not started with the job, but may join it.
    """

    tasks: tuple[LaunchedTask, ...]
    program: str
    arguments: tuple[str, ...] = ()
    flags: bool = True
    environments: Mapping[LaunchedTask, Mapping[str, str]] = field(default_factory=dict, hash=False)
    token: str = ""
    later: frozenset[LaunchedTask] = frozenset()

    @classmethod
    def on_ports(
        cls,
        counts: Mapping[str, int],
        ports: Iterable[int],
        program: str,
        arguments: Sequence[str] = (),
        *,
        flags: bool = True,
    ) -> Self:
        """Make the tasks, `counts[job]` of each job in the order of `counts`, with an address each on this machine.

        Args:
            counts: number of tasks by job.
            ports: at least one per task.
            program: the Python file that each task runs.
            arguments: the program's own arguments.
            flags: whether tasks get the cluster as flags, besides TF_CONFIG.
        """
        roles = tuple(Role(job, count) for job, count in counts.items())
        return cls.of(JobDescription(program, roles, tuple(arguments), flags=flags), (f"{_HOST}:{port}" for port in ports))

    @classmethod
    def of(cls, description: JobDescription, addresses: Iterable[str], gpus: Sequence[str] = ()) -> Self:
        """Make the tasks that a description has.

        Args:
            description: the job.
            addresses: at least one for each task that is a member of the cluster.
            gpus: the devices that tasks are given, in turn, where they ask for some.
        """
        address = iter(addresses)
        tasks = tuple(
            LaunchedTask(job, index, None if job == "evaluator" else next(address))
            for job, count in description.counts.items()
            for index in range(count)
        )
        devices = iter(gpus)
        environments = {}
        for task in tasks:
            environments[task] = description.environment_of(task.job)
            if asked := description.role(task.job).gpus:
                own = ",".join(itertools.islice(devices, asked))
                environments[task]["CUDA_VISIBLE_DEVICES"] = own
        started = description.started
        later = frozenset(task for task in tasks if task.index >= started[task.job])
        return cls(tasks, description.program, description.arguments, description.flags, environments, later=later)

    @property
    def started(self) -> tuple[LaunchedTask, ...]:
        """The tasks that are started with the job."""
        return tuple(task for task in self.tasks if task not in self.later)

    def hosts(self, job: str) -> list[str]:
        """The addresses of a job's tasks, by index."""
        return [task.address for task in self.tasks if task.job == job and task.address is not None]

    def place(self, task: LaunchedTask) -> TaskPlace:
        """A task's place in the cluster."""
        return TaskPlace({job: self.hosts(job) for job in ("ps", "chief", "worker")}, task.job, task.index)

    def command(self, task: LaunchedTask) -> list[str]:
        """The command line of a task.

        The flags precede the program's own arguments: absl stops reading flags at the first argument that is none, and
        an argument of the user's own that repeats a flag wins.
        """
        flags = self.place(task).flags() if self.flags else ()
        return [sys.executable, *self._words, *flags, *self.arguments]

    @functools.cached_property
    def _words(self) -> list[str]:
        # For all tasks: to tell, the program and what it imports are parsed.
        return program_words(self.program)

    def payload(self, task: LaunchedTask) -> bytes | None:
        """What the task's process reads first; None where it has nothing to read."""
        return None

    def host_of(self, task: LaunchedTask) -> str | None:
        """The other host to which a task is brought; None where it is started here."""
        return None

    def signal_words(self, number: int) -> bytes | None:
        """What a task's process reads as a signal; None where it is sent the signal itself."""
        return None

    def news(self, line: str) -> TaskNews | None:
        """What a line of a task's process tells the launcher; None for a line of the program's."""
        return None

    def environment(self, task: LaunchedTask, inherited: Mapping[str, str]) -> dict[str, str]:
        """The environment of a task: the launcher's, its own, the cluster in TF_CONFIG, and output that is not held back."""
        own = self.environments.get(task, {})
        return {**inherited, **own, "TF_CONFIG": self.place(task).tf_config(), "PYTHONUNBUFFERED": "1"}

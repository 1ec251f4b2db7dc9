"""The job to be launched: its tasks, and for each its command line and its environment. Starts nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

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
    """A program and the tasks that it runs as."""

    tasks: tuple[LaunchedTask, ...]
    program: str
    arguments: tuple[str, ...] = ()
    flags: bool = True

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
        port = iter(ports)
        tasks = tuple(
            LaunchedTask(job, index, None if job == "evaluator" else f"{_HOST}:{next(port)}")
            for job, count in counts.items()
            for index in range(count)
        )
        return cls(tasks, program, tuple(arguments), flags)

    def hosts(self, job: str) -> list[str]:
        """The addresses of a job's tasks, by index."""
        return [task.address for task in self.tasks if task.job == job and task.address is not None]

    def command(self, task: LaunchedTask) -> list[str]:
        """The command line of a task.

        The flags precede the program's own arguments: absl stops reading flags at the first argument that is none, and
        an argument of the user's own that repeats a flag wins.
        """
        return [sys.executable, self.program, *self._flags(task), *self.arguments]

    def _flags(self, task: LaunchedTask) -> list[str]:
        if not self.flags:
            return []
        # A program without chiefs need not know the flag.
        jobs = [job for job in ("ps", "chief", "worker") if job != "chief" or self.hosts(job)]
        hosts = [f"--{job}_hosts={','.join(self.hosts(job))}" for job in jobs]
        return [*hosts, f"--job_name={task.job}", f"--task_index={task.index}"]

    def environment(self, task: LaunchedTask, inherited: Mapping[str, str]) -> dict[str, str]:
        """The environment of a task: the launcher's, the cluster in TF_CONFIG, and output that is not held back."""
        cluster = {job: self.hosts(job) for job in ("chief", "ps", "worker") if self.hosts(job)}
        config = {"cluster": cluster, "task": {"type": task.job, "index": task.index}}
        return {**inherited, "TF_CONFIG": json.dumps(config), "PYTHONUNBUFFERED": "1"}

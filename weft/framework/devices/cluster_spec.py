"""ClusterSpec: which tasks there are, by job and index, and at which addresses they listen."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tensorboard.compat.proto import cluster_pb2

from weft.platform.hints.spelling import did_you_mean
from weft.proto.messages import ClusterDef

# What programs write for a cluster: the addresses of each job's tasks in their order, or by their numbers.
ClusterLike: TypeAlias = "ClusterSpec | ClusterDef | Mapping[str, Sequence[str] | Mapping[int, str]]"


class ClusterSpec:
    """The tasks of a cluster. Immutable; equal when the contents are equal.

    Args:
        cluster: a dict of job name to a list of addresses or to a dict {index: address}, a ClusterDef, or a ClusterSpec.

    Raises:
        TypeError: an address is not a string, or `cluster` is none of those. ValueError: an index is a text but no number.

    >>> cluster = tf.train.ClusterSpec({"ps": ["ps0:2222"], "worker": ["w0:2222", "w1:2222"]})
    >>> cluster.num_tasks("worker")
    2
    """

    def __init__(self, cluster: ClusterLike) -> None:
        if isinstance(cluster, dict):
            _refuse_whole_config(cluster)
            self._jobs = {_job_name(job): _tasks_of(job, tasks) for job, tasks in cluster.items()}
        elif isinstance(cluster, cluster_pb2.ClusterDef):
            self._jobs = {job.name: dict(job.tasks) for job in cluster.job}
        elif isinstance(cluster, ClusterSpec):
            self._jobs = {job: dict(tasks) for job, tasks in cluster._jobs.items()}
        elif hasattr(cluster, "SerializeToString"):
            # A ClusterDef of another package (TensorFlow's) has the same wire form.
            parsed = cluster_pb2.ClusterDef.FromString(cluster.SerializeToString())
            self._jobs = {job.name: dict(job.tasks) for job in parsed.job}
        else:
            told = f"{cluster!r}: json.loads makes one of a JSON text" if isinstance(cluster, str) else type(cluster).__name__
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                f"`ClusterDef` protocol buffer; got {told}"
            )

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    def __hash__(self) -> int:
        return hash(self.as_cluster_def().SerializeToString(deterministic=True))

    def __repr__(self) -> str:
        jobs = ", ".join(f"{job!r}: {_plain(self._jobs[job])!r}" for job in sorted(self._jobs))
        return f"ClusterSpec({{{jobs}}})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>/job:{html.escape(job)}/task:{index}</td><td>{html.escape(address)}</td></tr>"
            for job in sorted(self._jobs)
            for index, address in sorted(self._jobs[job].items())
        )
        return f"<table><tr><th>task</th><th>address</th></tr>{rows}</table>"

    def as_dict(self) -> dict[str, Any]:
        """Job name to a list of addresses, or to a dict by index where some index is missing.

        Returns:
            A new dictionary, from which ClusterSpec makes an equal one.
        """
        return {job: _plain(tasks) for job, tasks in self._jobs.items()}

    def as_cluster_def(self) -> cluster_pb2.ClusterDef:
        """The ClusterDef, jobs in order of name."""
        proto = cluster_pb2.ClusterDef()
        for job in sorted(self._jobs):
            tasks = proto.job.add(name=job).tasks
            for index in sorted(self._jobs[job]):
                tasks[index] = self._jobs[job][index]
        return proto

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has; ValueError when there is no such job.

        Args:
            job_name: a job's name.
        """
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks; ValueError when there is no such job.

        Args:
            job_name: a job's name.
        """
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task; ValueError when there is no such job or index.

        Args:
            job_name, task_index: the task.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}; it has {sorted(tasks)}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job by index, None where an index is missing; ValueError when there is no such job.

        Args:
            job_name: a job's name.
        """
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def _job(self, job_name: str) -> dict[int, str]:
        if job_name not in self._jobs:
            raise ValueError(
                f"No such job in cluster: {job_name!r}; there are {sorted(self._jobs)}.{did_you_mean(job_name, self._jobs)}"
            )
        return self._jobs[job_name]


def _refuse_whole_config(cluster: Mapping[str, object]) -> None:
    if isinstance(inner := cluster.get("cluster"), dict) and any(isinstance(tasks, list | dict) for tasks in inner.values()):
        raise TypeError(
            "`cluster` must be a dictionary mapping one or more job names to lists of network addresses; this one has the form "
            f"of TF_CONFIG, whose cluster is config['cluster'], with the jobs {sorted(inner)}"
        )


def _job_name(job: object) -> str:
    if not isinstance(job, str | bytes):
        raise TypeError(f"Job name {job!r} must be bytes or unicode")
    return job if isinstance(job, str) else job.decode()


def _task_index(job: object, index: object) -> int:
    """The index, also of a text such as a JSON key; ValueError for a text that is no number, TypeError for what is neither."""
    if isinstance(index, bool) or not isinstance(index, int | str):
        raise TypeError(f"Task indices of job {job!r} must be integers; got {index!r}")
    try:
        return int(index)
    except ValueError:
        raise ValueError(f"Task indices of job {job!r} must be integers; got {index!r}") from None


def _tasks_of(job: str, tasks: object) -> dict[int, str]:
    if isinstance(tasks, dict):
        indexed = {}
        for index, address in tasks.items():
            indexed[_task_index(job, index)] = address
    elif isinstance(tasks, list | tuple):
        indexed = dict(enumerate(tasks))
    else:
        raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings; got {tasks!r}")
    for address in indexed.values():
        if not isinstance(address, str | bytes):
            raise TypeError(f"Task address of job {job!r} must be bytes or unicode; got {address!r}")
    return {index: a if isinstance(a, str) else a.decode() for index, a in indexed.items()}


def _plain(tasks: dict[int, str]) -> Any:
    # A job without tasks is an empty dict, as in TensorFlow.
    dense = bool(tasks) and sorted(tasks) == list(range(len(tasks)))
    return [tasks[index] for index in range(len(tasks))] if dense else dict(tasks)

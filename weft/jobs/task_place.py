"""A task's place in a cluster, and how its program is told of it: by flags and by TF_CONFIG."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.jobs.description import JobError


@dataclass(frozen=True)
class TaskPlace:
    """Which task of which cluster a process is.

    Args:
        cluster: the tasks' addresses, `host:port`, by role and index. An evaluator is no member.
        role: this task's role.
        index: its number in the role.
    """

    cluster: Mapping[str, Sequence[str]]
    role: str
    index: int

    @property
    def name(self) -> str:
        """The name that messages carry, such as `worker:1`."""
        return f"{self.role}:{self.index}"

    @property
    def address(self) -> str | None:
        """Where this task listens; None for one that is no member of the cluster."""
        tasks = self.cluster.get(self.role, ())
        return tasks[self.index] if self.index < len(tasks) else None

    def tf_config(self) -> str:
        """The value of TF_CONFIG."""
        cluster = {role: list(self.cluster[role]) for role in ("chief", "ps", "worker") if self.cluster.get(role)}
        return json.dumps({"cluster": cluster, "task": {"type": self.role, "index": self.index}})

    def flags(self) -> list[str]:
        """The flags that programs written for TensorFlow's guide define."""
        # A program without chiefs need not know the flag.
        roles = [role for role in ("ps", "chief", "worker") if role != "chief" or self.cluster.get(role)]
        hosts = [f"--{role}_hosts={','.join(self.cluster.get(role, ()))}" for role in roles]
        return [*hosts, f"--job_name={self.role}", f"--task_index={self.index}"]


def place_in_tf_config(text: str) -> TaskPlace:
    """The place that a TF_CONFIG tells, such as one that Kubeflow's operator has set.

    Raises:
        JobError: it is no JSON, or tells no task.
    """
    try:
        config = json.loads(text)
        cluster = {str(role): [str(each) for each in tasks] for role, tasks in config.get("cluster", {}).items()}
        task = config["task"]
        return TaskPlace(cluster, str(task["type"]), int(task["index"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise JobError(
            f"TF_CONFIG does not tell a cluster and a task ({type(error).__name__}: {error}): {text[:200]!r}"
        ) from None

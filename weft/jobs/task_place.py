"""A task's place in a cluster, and how its program is told of it: by flags and by TF_CONFIG."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from weft.jobs.description import JobError

_FLAGGED: Final = ("ps", "chief", "master", "worker")
_ADDRESS: Final = re.compile(r"(\[[0-9a-fA-F:]+\]|[^\s:/]+):(\d{1,5})")
_LAST_PORT: Final = 65535


@dataclass(frozen=True)
class TaskPlace:
    """Which task of which cluster a process is.

    Args:
        cluster: the tasks' addresses, `host:port`, by role and index. An evaluator is no member.
        role: this task's role.
        index: its number in the role.
        told: the TF_CONFIG that told it; one is made of the others where none did.
    """

    cluster: Mapping[str, Sequence[str]]
    role: str
    index: int
    told: str = field(default="", compare=False)

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
        if self.told:
            return self.told
        cluster = {role: list(self.cluster[role]) for role in ("chief", "ps", "worker") if self.cluster.get(role)}
        return json.dumps({"cluster": cluster, "task": {"type": self.role, "index": self.index}})

    def flags(self) -> list[str]:
        """The flags that programs written for TensorFlow's guide define."""
        # A program without chiefs need not know the flag.
        roles = [role for role in _FLAGGED if role in ("ps", "worker") or self.cluster.get(role)]
        hosts = [f"--{role}_hosts={','.join(self.cluster.get(role, ()))}" for role in roles]
        return [*hosts, f"--job_name={self.role}", f"--task_index={self.index}"]


def place_in_tf_config(text: str) -> TaskPlace:
    """The place that a TF_CONFIG tells, such as one that Kubeflow's operator has set.

    Raises:
        JobError: it is no JSON, or tells no task of its cluster.
    """
    try:
        config = json.loads(text)
        task = config["task"]
        role, index = task["type"], task["index"]
        cluster = checked_cluster(config.get("cluster", {}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise JobError(
            f"TF_CONFIG does not tell a cluster and a task ({_reason(error)}): {text[:200]!r}; expected "
            '{"cluster": {"worker": ["HOST:PORT", ...]}, "task": {"type": "worker", "index": 0}}'
        ) from None
    if isinstance(index, str) and index.isdecimal():
        index = int(index)
    check_member(cluster, role, index, "TF_CONFIG")
    return TaskPlace(cluster, role, index, text)


def checked_cluster(value: object) -> dict[str, list[str]]:
    """A cluster's addresses by role, out of JSON.

    Raises:
        ValueError: it is none, or an address is no `host:port`, or there twice.
    """
    if not isinstance(value, dict):
        raise ValueError(f"the cluster should be addresses by role, and is {value!r}")
    found: dict[str, list[str]] = {}
    for role, tasks in value.items():
        if not isinstance(tasks, list):
            raise ValueError(f"the tasks of {role} should be a list of addresses, and are {tasks!r}")
        found[role] = [_checked_address(each, role) for each in tasks]
    addresses = [each for tasks in found.values() for each in tasks]
    if len(set(addresses)) < len(addresses):
        raise ValueError(f"two tasks have the address {max(addresses, key=addresses.count)}")
    return found


def _checked_address(value: object, role: str) -> str:
    parts = _ADDRESS.fullmatch(value) if isinstance(value, str) else None
    if parts is None or not 0 < int(parts[2]) <= _LAST_PORT:
        raise ValueError(f"an address of {role} should be host:port, and is {value!r}")
    return parts[0]


def check_member(cluster: Mapping[str, Sequence[str]], role: object, index: object, what: str) -> None:
    """JobError unless a role and an index are those of a task of a cluster, or of an evaluator.

    Args:
        cluster: the cluster.
        role, index: which task.
        what: what tells them, in the error.
    """
    if not isinstance(role, str) or (role not in cluster and role != "evaluator"):
        raise JobError(f"{what}: this is a task of {role!r}, and the cluster has {', '.join(cluster) or 'no tasks'}")
    if type(index) is not int or index < 0:
        raise JobError(f"{what}: the number of this task should be 0 or more, and is {index!r}")
    count = len(cluster.get(role, ()))
    if role != "evaluator" and index >= count:
        known = f"{count} {role}: {role}:0 to {role}:{count - 1}" if count else f"no {role}"
        raise JobError(f"{what}: this is {role}:{index}, and the cluster has {known}")


def _reason(error: Exception) -> str:
    return f"there is no {error}" if isinstance(error, KeyError) else str(error)

"""The place of a process that a scheduler has started: what it finds in its environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from weft.jobs.description import ROLES, JobError
from weft.jobs.slurm import SlurmStep, is_slurm_task
from weft.jobs.task_place import TaskPlace, check_member, checked_cluster, place_in_tf_config

CLUSTER_VARIABLE: Final = "WEFT_CLUSTER"
"""Names the addresses of a cluster's tasks by role, as JSON; in pods of Kubernetes."""
ROLE_VARIABLE: Final = "WEFT_ROLE"
"""Names the role of this process's task."""
INDEX_VARIABLE: Final = "JOB_COMPLETION_INDEX"
"""Kubernetes tells each pod of an Indexed Job its number by this."""


def scheduled_place(
    environment: Mapping[str, str],
    counts: Mapping[str, int | None],
    port_base: int | None = None,
    later: Mapping[str, int] | None = None,
) -> TaskPlace:
    """The place that a scheduler tells: a pod's of a manifest of weft's, a task's of Slurm, or that of a TF_CONFIG.

    Args:
        environment: this process's.
        counts: how many tasks each role has, where the scheduler only knows how many there are; None for those that the
            other roles leave.
        port_base: the first port on each node, where the scheduler gives none.
        later: how many further tasks may join each role, where the scheduler knows only those that it has started.

    Raises:
        JobError: the environment tells no place, or it does not fit the job.
    """
    if CLUSTER_VARIABLE in environment:
        return _pods_place(environment)
    if is_slurm_task(environment):
        step = SlurmStep.of(environment)
        left = step.task_count - sum(count or 0 for count in counts.values())
        filled = {role: max(left, 0) if counts.get(role, 0) is None else counts.get(role, 0) or 0 for role in ROLES}
        return step.place({role: count for role, count in filled.items() if count}, port_base, later)
    if "TF_CONFIG" in environment:
        return place_in_tf_config(environment["TF_CONFIG"])
    raise JobError(
        f"no scheduler has started this process: it has neither {CLUSTER_VARIABLE} (a pod of 'weft k8s manifest') nor "
        "SLURM_PROCID (srun) nor TF_CONFIG. On one machine: weft launch"
    )


def _pods_place(environment: Mapping[str, str]) -> TaskPlace:
    role, index = environment.get(ROLE_VARIABLE, ""), environment.get(INDEX_VARIABLE, "")
    try:
        cluster = checked_cluster(json.loads(environment[CLUSTER_VARIABLE]))
    except (ValueError, RecursionError) as error:
        told = environment[CLUSTER_VARIABLE][:200]
        raise JobError(f"{CLUSTER_VARIABLE} should be addresses by role, and is {told!r}: {error}") from None
    if role not in ROLES:
        raise JobError(f"{ROLE_VARIABLE} should be one of {', '.join(ROLES)}, and is {role!r}")
    if not index.isdecimal():
        raise JobError(f"{INDEX_VARIABLE} should be the number of this pod in its role, and is {index!r}")
    check_member(cluster, role, int(index), f"{CLUSTER_VARIABLE}, {ROLE_VARIABLE} and {INDEX_VARIABLE}")
    return TaskPlace(cluster, role, int(index))

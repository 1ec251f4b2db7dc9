"""The place of this process in a cluster, as the environment variable TF_CONFIG tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from weft.estimators.aliases import Settings
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.jobs.tf_config import FORM
from weft.platform.hints.spelling import did_you_mean

_VARIABLE: Final = "TF_CONFIG"
_NOTE: Final = "Note that these values may be coming from the TF_CONFIG environment variable."


class TaskType:
    """The kinds of tasks of a cluster that trains an estimator."""

    MASTER: Final = "master"
    PS: Final = "ps"
    WORKER: Final = "worker"
    CHIEF: Final = "chief"
    EVALUATOR: Final = "evaluator"


@dataclass(frozen=True)
class ClusterTask:
    """One task of a cluster: its kind and number, and how it reaches the others.

    `master` is the target of its training sessions, `evaluation_master` that of its evaluations; '' is this process.
    """

    cluster_spec: ClusterSpec
    task_type: str
    task_id: int
    master: str
    evaluation_master: str
    is_chief: bool
    num_ps_replicas: int
    num_worker_replicas: int
    global_id_in_cluster: int | None
    service: Settings | None


def cluster_task(config: Settings, may_lack_chief: bool = False) -> ClusterTask:
    """Work out this process's task from what TF_CONFIG says.

    Args:
        config: what it says.
        may_lack_chief: whether the first worker is the chief where the cluster has none.

    Raises:
        TypeError: the service is no dict.
        ValueError: the cluster has no chief or several, or the task is none of it.
    """
    service = config.get("service")
    if service is not None and not isinstance(service, dict):
        raise TypeError(f'If "service" is set in TF_CONFIG, it must be a dict. Given {type(service)}')
    cluster = ClusterSpec(config.get("cluster") or {})
    if not cluster:
        return _lone_task(config, cluster, service)
    chief = TaskType.MASTER if TaskType.MASTER in cluster.jobs else TaskType.CHIEF
    if may_lack_chief and chief not in cluster.jobs and TaskType.WORKER in cluster.jobs:
        return _task_of_workers(config, cluster, service)
    if chief == TaskType.MASTER and TaskType.CHIEF in cluster.jobs:
        raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
    task_type, task_id = _checked_task(cluster, config.get("task") or {}, chief)
    if task_type == TaskType.EVALUATOR:
        if chief == TaskType.MASTER:
            raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
        # An evaluator is outside the cluster: it reads checkpoints, and nobody waits for it.
        evaluation_master = config.get("eval_session_master", "")
        return ClusterTask(ClusterSpec({}), task_type, task_id, "", evaluation_master, False, 0, 0, None, service)
    return ClusterTask(
        cluster_spec=cluster,
        task_type=task_type,
        task_id=task_id,
        master=config.get("session_master", _own_address(cluster, task_type, task_id)),
        evaluation_master="",
        is_chief=task_type == chief,
        num_ps_replicas=_count(cluster, TaskType.PS),
        num_worker_replicas=_count(cluster, TaskType.WORKER) + _count(cluster, chief),
        global_id_in_cluster=_global_id(cluster, task_type, task_id, chief),
        service=service,
    )


def _task_of_workers(config: Settings, cluster: ClusterSpec, service: Settings | None) -> ClusterTask:
    """A task of a cluster without a chief, whose first worker is the chief."""
    task = config.get("task") or {}
    if not task.get("type") or task.get("index") is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type and task index must be set.')
    kind, number = str(task["type"]), _index(task["index"])
    if kind == TaskType.EVALUATOR:
        return ClusterTask(ClusterSpec({}), kind, number, "", config.get("eval_session_master", ""), False, 0, 0, None, service)
    if kind not in cluster.jobs or number not in cluster.task_indices(kind):
        raise ValueError(f"{kind} {number} is not a valid task in the cluster_spec:\n{cluster}\n\n{_NOTE}")
    return ClusterTask(
        cluster_spec=cluster,
        task_type=kind,
        task_id=number,
        master=config.get("session_master", _own_address(cluster, kind, number)),
        evaluation_master="",
        is_chief=(kind, number) == (TaskType.WORKER, 0),
        num_ps_replicas=_count(cluster, TaskType.PS),
        num_worker_replicas=_count(cluster, TaskType.WORKER),
        global_id_in_cluster=_global_id(cluster, kind, number, TaskType.WORKER),
        service=service,
    )


def _lone_task(config: Settings, cluster: ClusterSpec, service: Settings | None) -> ClusterTask:
    task = config.get("task") or {}
    task_type, task_id = task.get("type", TaskType.WORKER), _index(task.get("index", 0))
    if task_type != TaskType.WORKER:
        raise ValueError(
            f'If "cluster" is not set in TF_CONFIG, task type must be WORKER. It is {task_type!r}: is "cluster" lacking? {FORM}'
        )
    if task_id != 0:
        raise ValueError(f'If "cluster" is not set in TF_CONFIG, task index must be 0. It is {task_id}: is "cluster" lacking?')
    master, evaluation_master = config.get("session_master", ""), config.get("eval_session_master", "")
    return ClusterTask(cluster, task_type, task_id, master, evaluation_master, True, 0, 1, 0, service)


def _checked_task(cluster: ClusterSpec, task: Settings, chief: str) -> tuple[str, int]:
    if chief not in cluster.jobs:
        raise ValueError(
            f'If "cluster" is set in TF_CONFIG, it must have one "{chief}" node. It has the jobs {cluster.jobs}: the worker '
            "that "
            f'initializes and saves the model is the only task of a job "{chief}" of its own.'
        )
    if cluster.num_tasks(chief) > 1:
        raise ValueError(f'The "cluster" in TF_CONFIG must have only one "{chief}" node. It has {cluster.num_tasks(chief)}.')
    task_type, index = task.get("type"), task.get("index")
    if not task_type:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, task type must be set. {FORM}')
    if index is None:
        raise ValueError(f'If "cluster" is set in TF_CONFIG, task index must be set. {FORM}')
    task_id = _index(index)
    if task_id < 0:
        raise ValueError(f"Task index must be non-negative number. TF_CONFIG says {task_id}.")
    if task_type == TaskType.EVALUATOR:
        return task_type, task_id
    if task_type not in cluster.jobs:
        raise ValueError(
            f"{task_type} is not a valid task_type in the "
            f"cluster_spec:\n{cluster}\n\n{_NOTE}{did_you_mean(task_type, cluster.jobs)}"
        )
    if task_id not in cluster.task_indices(task_type):
        raise ValueError(
            f"{task_id} is not a valid task_id for task_type {task_type} in the cluster_spec:\n{cluster}\n\n{_NOTE} "
            f"Job {task_type!r} has the tasks {list(cluster.task_indices(task_type))}."
        )
    return task_type, task_id


def _index(given: object) -> int:
    try:
        return int(str(given))
    except ValueError:
        raise ValueError(f'The task\'s "index" in TF_CONFIG must be a whole number, not {given!r}. {FORM}') from None


def _own_address(cluster: ClusterSpec, task_type: str, task_id: int) -> str:
    if len(cluster.jobs) == 1 and cluster.num_tasks(cluster.jobs[0]) == 1:
        return ""
    return f"grpc://{cluster.task_address(task_type, task_id)}"


def _count(cluster: ClusterSpec, job: str) -> int:
    return cluster.num_tasks(job) if job in cluster.jobs else 0


def _global_id(cluster: ClusterSpec, task_type: str, task_id: int, chief: str) -> int:
    """The task's number when all are counted: the chief first, the parameter servers last, other jobs by name between."""
    others = sorted(set(cluster.jobs) - {chief, TaskType.PS})
    order = [chief, *others, TaskType.PS]
    return task_id + sum(_count(cluster, job) for job in order[: order.index(task_type)])

"""Joining: the place of a task that comes to a cluster which runs already, as one that the cluster has not seen yet."""

from __future__ import annotations

from typing import Final

from weft.distributed.client.observation.observing import TaskObserver
from weft.distributed.client.server_status import server_status
from weft.errors import OpError
from weft.framework.cluster_spec import ClusterSpec
from weft.framework.device_spec import DeviceSpec
from weft.jobs.description import JobError
from weft.jobs.task_place import TaskPlace, check_member

_ASK_S: Final = 10.0
_LOOK_S: Final = 2.0


def joined_place(address: str, name: str | None = None, own_address: str | None = None) -> TaskPlace:
    """The place of a task in a cluster, of which one of its tasks tells.

    Args:
        address: where that one listens, `host:port`.
        name: the task to be, such as `worker:2`; the last worker that does not answer when None.
        own_address: where it will listen, instead of where the cluster has it.

    Raises:
        JobError: `name` names no task, the cluster has no such one, or it is there already.
        OpError: the cluster does not answer, or does not take this caller's word.
    """
    role, _, number = (name or "").partition(":")
    if name is not None and not (role and number.isdecimal()):
        raise JobError(f"--as: expected a task, such as worker:2, got {name!r}")
    cluster = _cluster_of(address)
    if name is None:
        role, index = "worker", _last_missing(cluster)
    else:
        index = int(number)
        check_member(cluster, role, index, f"--as {name}")
        if _answers(cluster[role][index]):
            raise JobError(f"--as {name}: it is there already, at {cluster[role][index]}")
    if own_address is not None:
        cluster[role][index] = own_address
    return TaskPlace(cluster, role, index)


def _cluster_of(address: str) -> dict[str, list[str]]:
    observer = TaskObserver(address)
    try:
        told = observer.report(_ASK_S).cluster
    finally:
        observer.close()
    found: dict[str, dict[int, str]] = {}
    for task, listens in told.items():
        spec = DeviceSpec.from_string(task)
        found.setdefault(str(spec.job), {})[spec.task or 0] = listens
    return {job: list(tasks) for job, tasks in ClusterSpec(found).as_dict().items()}


def _last_missing(cluster: dict[str, list[str]]) -> int:
    """The last, since those before may have begun with the job, and be about to come back after a failure."""
    workers = cluster.get("worker", [])
    for index in reversed(range(len(workers))):
        if not _answers(workers[index]):
            return index
    told = f"its {len(workers)} workers are all there" if workers else f"it has {', '.join(cluster)} only"
    raise JobError(f"the cluster has no worker to be: {told}. It may have as many as its description says, begun or not")


def _answers(address: str) -> bool:
    try:
        server_status(address, _LOOK_S)
    except OpError:
        return False
    return True

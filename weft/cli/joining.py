"""Joining: the place of a task that comes to a cluster which runs already, as one that the cluster has not seen yet."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Sequence
from typing import Final

from weft.distributed.client.observation.observing import TaskObserver
from weft.distributed.client.server_status import server_status
from weft.errors import OpError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.devices.device_spec import DeviceSpec
from weft.jobs.description import JobError
from weft.jobs.task_place import TaskPlace, check_member
from weft.platform.hosts.host_port import split_address

_ASK_S: Final = 10.0
_LOOK_S: Final = 2.0


def joined_place(address: str, name: str | None = None, own_address: str | None = None) -> TaskPlace:
    """The place of a task in a cluster, of which one of its tasks tells. It is this process's as long as it lives.

    Args:
        address: where that one listens, `host:port`.
        name: the task to be, such as `worker:2`; None for the last worker that does not answer, has an address of this host and
            is not the place of another of its processes.
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
        role, index = "worker", _last_missing(cluster, is_elsewhere=own_address is not None)
    else:
        index = int(number)
        check_member(cluster, role, index, f"--as {name}")
        if _answers(cluster[role][index]):
            raise JobError(f"--as {name}: it is there already, at {cluster[role][index]}")
        if not _claim(cluster[role][index]):
            raise JobError(f"--as {name}: another process of this host has begun to be it")
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


def _last_missing(cluster: dict[str, list[str]], *, is_elsewhere: bool) -> int:
    """The last, since those before may have begun with the job, and be about to come back after a failure."""
    workers = cluster.get("worker", [])
    missing = [index for index in reversed(range(len(workers))) if not _answers(workers[index])]
    for index in missing:
        if (is_elsewhere or _may_be_own(workers[index])) and _claim(workers[index]):
            return index
    if missing:
        raise JobError(_not_here(workers, missing))
    told = f"its {len(workers)} workers are all there" if workers else f"it has {', '.join(cluster)} only"
    raise JobError(f"the cluster has no worker to be: {told}. It may have as many as its description says, begun or not")


def _not_here(workers: Sequence[str], missing: Sequence[int]) -> str:
    places = ", ".join(f"worker:{index} at {workers[index]}" for index in sorted(missing))
    return (
        f"the cluster lacks {places}, and this host has none of these addresses, or others of its processes take them: start "
        "this one there, or add --address HOST:PORT"
    )


def _may_be_own(address: str) -> bool:
    """Whether a server of this host could listen at an address; also where its name does not resolve yet."""
    host, port = split_address(address)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        return True
    for family, kind, protocol, _, place in found:
        with socket.socket(family, kind, protocol) as tried:
            try:
                tried.bind(place)
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    continue
        return True
    return False


def _claim(address: str) -> bool:
    """Take a place among the processes of this host, for this process and the program that it becomes; False if it is taken.

    A task takes seconds to come to its server, and another one that joins meanwhile would find its place empty.
    """
    if sys.platform != "linux":
        return True
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # A name that is no file: the system forgets it with the last process that has it.
        claim.bind(f"\0weft-join-{os.getuid()}-{address}")
    except OSError:
        claim.close()
        return False
    os.set_inheritable(claim.detach(), True)
    return True


def _answers(address: str) -> bool:
    try:
        server_status(address, _LOOK_S)
    except OpError:
        return False
    return True

"""SessionCluster: a cluster that a session defines for itself over servers of this process, with names of its own for them.

Each task is a worker of its own, with the devices of the server at its address under the session's names. Its state is the
session's and ends with it, so two such clusters over the same servers share nothing.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Sequence
from typing import Any

from weft.distributed.master.worker_cache import task_names
from weft.distributed.server.in_process import local_servers
from weft.distributed.worker.local_worker import LocalWorker, status_of
from weft.distributed.worker.task_status import TaskStatus
from weft.distributed.worker.worker_handle import WorkerHandle
from weft.errors import InvalidArgumentError, UnavailableError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.protocol.messages import Push
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.worker import Worker


class SessionCluster:
    """Finds the workers of a session's own cluster. Safe from any thread.

    Args:
        cluster: the session's cluster.
        master: the port of the server whose master the session uses.

    Raises:
        InvalidArgumentError: that server is not in the cluster.
    """

    def __init__(self, cluster: ClusterSpec, master: int) -> None:
        self._lock = threading.Lock()
        self._workers: dict[str, Worker] = {}
        self.addresses = task_names(cluster)
        own = [task for task, address in self.addresses.items() if _port_here(address) == master]
        if not own:
            raise InvalidArgumentError.of(
                f"The session's cluster_def lacks the server that the session is opened on, at port {master}: "
                f"{', '.join(f'{task} at {address}' for task, address in self.addresses.items())}"
            )
        self.own_task = own[0]

    @staticmethod
    def is_for(cluster: ClusterSpec) -> bool:
        """Whether a cluster consists of servers of this process, some of them under other names than their own."""
        found = {task: local_servers.find(address) for task, address in task_names(cluster).items()}
        return all(found.values()) and any(server.worker.task != task for task, server in found.items() if server is not None)

    def reach(self, task: str, address: str) -> WorkerHandle:
        """Make a handle of the session's worker on the server at an address.

        Raises:
            UnavailableError: the server was stopped.
        """
        return LocalWorker(self._find_worker(task, address))

    def status(self, task: str, address: str, timeout_s: float) -> TaskStatus:
        """The devices of a task under the session's names."""
        return status_of(self._find_worker(task, address))

    def _find_worker(self, task: str, address: str) -> Worker:
        server = local_servers.find(address)
        if server is None:
            raise UnavailableError.of(f"Task {task} at {address} is unavailable: its server was stopped")
        with self._lock:
            worker = self._workers.get(task)
            if worker is None:
                worker = self._workers[task] = self._make_worker(task, server.worker)
        return worker

    def _make_worker(self, task: str, base: Worker) -> Worker:
        devices = [task + name.removeprefix(base.task) for name in base.devices]
        job = task.removeprefix("/job:").partition("/")[0]
        return Worker(
            task,
            devices,
            secrets.randbits(62) | 1,
            ResourceManager(job),
            lambda _: _Outlet(self._workers),
            base.file_access,
            base.limits,
        )


def _port_here(address: str) -> int | None:
    server = local_servers.find(address)
    return None if server is None else server.port


class _Outlet:
    """Between workers of one process values are handed over."""

    def __init__(self, workers: dict[str, Worker]) -> None:
        self._workers = workers

    def push(self, peer: str, step_id: int, edges: Sequence[int], tensors: Sequence[Any], *, is_held: bool = False) -> None:
        """Give values to a peer task."""
        self._workers[peer].receive(Push(step_id, tuple(edges), tuple(tensors)))

    def flush(self, peer: str) -> None:
        """Nothing is held."""

    def has_room(self, peer: str) -> bool:
        """Always."""
        return True

    def wait_for_room(self, peer: str, start: Callable[[], None]) -> bool:
        """Nobody has to wait."""
        return False

    def go_on(self, peer: str) -> None:
        """Nothing."""

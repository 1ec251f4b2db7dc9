"""TaskDirectory: how a server reaches the tasks of its cluster: itself, others of its process, and those elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable

from weft.channel.heartbeats import Watch
from weft.distributed.master.worker_cache import WorkerCache, task_names
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.in_process.local_servers import LocalServer
from weft.distributed.server.in_process.session_cluster import SessionCluster
from weft.distributed.worker.local_worker import LocalWorker, status_of
from weft.distributed.worker.network.peer_connections import Admission
from weft.distributed.worker.network.task_network import TaskNetwork
from weft.distributed.worker.remote_worker import RemoteWorker
from weft.distributed.worker.task_status import TaskStatus
from weft.distributed.worker.worker_handle import WorkerHandle
from weft.distributed.worker.worker_service import WorkerStub
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.runtime.worker import Worker

_ADMISSION_S = 5.0


class PeerStubs:
    """The gRPC stubs of the other tasks, one for each, made when it is first asked for. Safe from any thread.

    Args:
        task: the task that calls.
        cluster: its cluster.
        heartbeat_timeout_s: after how long a silent peer is given up; None for never.
    """

    def __init__(self, task: str, cluster: ClusterSpec, heartbeat_timeout_s: float | None) -> None:
        self._task = task
        self._addresses = task_names(cluster)
        self._heartbeat_timeout_s = heartbeat_timeout_s
        self._lock = threading.Lock()
        self._stubs: dict[str, WorkerStub] = {}
        self._moved: dict[str, str] = {}  # those of other addresses than the cluster has

    def find(self, task: str, address: str) -> WorkerStub:
        """The stub of a task."""
        with self._lock:
            stub = self._stubs.get(task)
            if stub is None:
                stub = self._stubs[task] = self.make(task, self.current(task, address))
            return stub

    def make(self, task: str, address: str) -> WorkerStub:
        """A stub of a task at an address, which the caller closes."""
        return WorkerStub(task, address, self._task, self._heartbeat_timeout_s)

    @property
    def others(self) -> list[str]:
        """The tasks of the cluster but the one that calls."""
        return [task for task in self._addresses if task != self._task]

    def address_of(self, task: str) -> str:
        """Where a task of the cluster is, as far as is known."""
        return self.current(task, self._addresses[task])

    def of(self, task: str) -> WorkerStub:
        """The stub of a task of the cluster."""
        return self.find(task, self._addresses[task])

    def current(self, task: str, address: str) -> str:
        """Where a task is that a cluster has at an address: there, if it has not moved."""
        return self._moved.get(task, address)

    def move(self, task: str, address: str) -> None:
        """Reach a task at another address from now on, also by the stub that others have of it."""
        with self._lock:
            self._moved[task] = address
            if stub := self._stubs.get(task):
                stub.move(address)

    def admit(self, task: str) -> Admission:
        """Ask a peer for leave to dial it, also one that this task pushes to for another task's master.

        Raises:
            UnavailableError: it cannot be reached.
        """
        # A session's own cluster has names that the server's has not.
        stub = self._stubs.get(task) or self.find(task, self._addresses[task])
        return stub.open_channel(self._task, timeout_s=_ADMISSION_S)

    def watch_of(self, task: str) -> Watch:
        """How a peer task is watched, or, for "", a client.

        Nobody waits for a client, so one that is stopped (Ctrl-Z) may go on.
        """
        address = self._addresses.get(task)
        if address is None:
            return Watch(self._heartbeat_timeout_s, tolerates_stop=not task)
        return Watch(self._heartbeat_timeout_s, lambda timeout_s: self.find(task, address).probe(timeout_s))

    def close(self) -> None:
        """Close every stub."""
        for stub in self._stubs.values():
            stub.close()


class TaskDirectory:
    """Makes handles of tasks for masters. Safe from any thread.

    Args:
        cluster: the server's cluster.
        worker: its own task's.
        network: its connections with peers.
        stubs: its stubs of peers.
        port: the port on which the server listens.
    """

    def __init__(
        self, cluster: ClusterSpec, worker: Worker, network: TaskNetwork, stubs: PeerStubs, port: Callable[[], int]
    ) -> None:
        self._cluster = cluster
        self._worker = worker
        self._network = network
        self._stubs = stubs
        self._port = port

    def make_cache(self, cluster: ClusterSpec) -> tuple[WorkerCache, str]:
        """The tasks of a cluster, and which of them this one is there."""
        if cluster is self._cluster or not SessionCluster.is_for(cluster):
            return WorkerCache(cluster, self), self._worker.task
        registry = SessionCluster(cluster, self._port())
        return WorkerCache(cluster, registry), registry.own_task

    def reach(self, task: str, address: str) -> WorkerHandle:
        """Make a handle of a task, through which it runs graphs; a task of this process is introduced to this one, and back."""
        if task == self._worker.task:
            return LocalWorker(self._worker)
        address = self._stubs.current(task, address)
        neighbour = _find_neighbour(task, address)
        if neighbour is None:
            return RemoteWorker(task, self._stubs.find(task, address), self._network)
        self._network.add_local(neighbour.worker)
        neighbour.add_neighbour(self._worker)
        return LocalWorker(neighbour.worker)

    def status(self, task: str, address: str, timeout_s: float) -> TaskStatus:
        """Ask a task for its status."""
        if task == self._worker.task:
            return status_of(self._worker)
        address = self._stubs.current(task, address)
        neighbour = _find_neighbour(task, address)
        return self._stubs.find(task, address).status(timeout_s) if neighbour is None else status_of(neighbour.worker)


def _find_neighbour(task: str, address: str) -> LocalServer | None:
    """The server of another task in this process."""
    server = local_servers.find(address)
    return server if server is not None and server.worker.task == task else None

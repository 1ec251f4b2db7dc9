"""RemoteWorker: the master's handle of a worker in another process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.channel.waiting.wait import Source
from weft.distributed.worker.task_network import TaskNetwork
from weft.distributed.worker.worker_service import WorkerStub
from weft.errors import OpError
from weft.passes.partition import Partition
from weft.runtime.executor import Executor, Inbox

_CONTROL_TIMEOUT_S = 10.0


class RemoteWorker:
    """A WorkerHandle by gRPC for registration and by the tensor channel for steps."""

    def __init__(self, task: str, stub: WorkerStub, network: TaskNetwork) -> None:
        self.task = task
        self._stub = stub
        self._network = network

    @property
    def is_local(self) -> bool:
        """False: the task is elsewhere."""
        return False

    @property
    def incarnation(self) -> int:
        """The incarnation that the channel is connected with; 0 when there is no connection."""
        return self._network.incarnation_of(self.task)

    def register(self, session_handle: str, config: Any, partition: Partition) -> str:
        """Connect, and register a partition with the incarnation that is there now.

        Raises:
            UnavailableError: the task cannot be reached.
        """
        self._network.connect(self.task)
        return self._stub.register_graph(session_handle, config, partition, self.incarnation)

    def deregister(self, graph_handle: str) -> None:
        """Forget a registered graph."""
        if self.incarnation:
            self._stub.deregister_graph(graph_handle)

    def close_session(self, session_handle: str) -> None:
        """Forget a session, if it can be that the task knows it."""
        if self.incarnation:
            self._stub.delete_session(session_handle)

    def clear(self, containers: Sequence[str]) -> None:
        """Drop containers, or all."""
        self._stub.cleanup_all(list(containers), _CONTROL_TIMEOUT_S)

    def run_graph(
        self, step_id: int, graph_handle: str, feeds: Sequence[Any], trace: bool, inbox: Inbox, on_done: Any, at_once: bool
    ) -> Callable[[], None] | None:
        """Ask for a part of a step."""
        connection = self._network.run_graph(self.task, step_id, graph_handle, feeds, trace, on_done, at_once)
        return None if at_once else connection.flush

    def waits_at(self, step_id: int) -> list[str]:
        """Not known here."""
        return []

    def abort(self, step_id: int, error: OpError) -> None:
        """Tell the task to give a step up."""
        self._network.abort(self.task, step_id, error)

    def local_executor(self, graph_handle: str) -> Executor | None:
        """None: the task is elsewhere."""
        return None

    def source(self) -> Source | None:
        """What the task's messages are read from."""
        connection = self._network.connection_with(self.task)
        return None if connection is None else connection.reader

"""InProcessSession: a session on a server of this process; the client's graph itself is what the master plans."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from weft.distributed.client.relayed_waits import RelayedWaits
from weft.distributed.master.master_session import MasterSession
from weft.distributed.master.steps.partial_run import PartialRun
from weft.distributed.master.steps.step_plan import StepPlan
from weft.distributed.server.in_process.local_servers import LocalServer
from weft.errors import CancelledError, OpError
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.platform.waits.deadline import holding, within
from weft.runtime.xla import engine_options


class InProcessSession:
    """A client's backend. The session is opened by the first run, which waits for the cluster's tasks."""

    def __init__(self, server: LocalServer, graph: Graph, config: Any) -> None:
        engine_options.request(config)
        self._server = server
        self._graph = graph
        self._config = config
        self._lock = threading.Lock()
        self._session: MasterSession | None = None
        self._closed: OpError | None = None

    def _open(self, timeout_s: float | None = None) -> MasterSession:
        with holding(self._lock, "the session, which another thread opens"):
            if self._session is None:
                opened = self._server.open_session(self._graph, self._config, self._raise_if_closed, timeout_s)
                opened.steps.watched = RelayedWaits(self._server.target.removeprefix("grpc://")).watched
                self._session = opened
            return self._session

    def _raise_if_closed(self) -> None:
        if self._closed is not None:
            raise self._closed

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        timeout_s: float | None = None,
    ) -> StepPlan:
        """Make the plan for these feeds, fetches and targets."""
        self._raise_if_closed()
        with within(timeout_s):
            session = self._session or self._open(timeout_s)
        with within(timeout_s):
            return session.prepare(feeds, fetches, targets)

    def prepare_partial(self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]) -> PartialRun:
        """Begin a step that is run in pieces."""
        self._raise_if_closed()
        return (self._session or self._open()).prepare_partial(feeds, fetches, targets)

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of the session's tasks."""
        return self._open().list_devices()

    def close(self) -> None:
        """Cancel the steps that run and end the session; shared state stays."""
        self._closed = CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`.")
        if self._session is not None:
            self._session.close()

    def abandon(self) -> None:
        """Close the session; nothing here waits."""
        self.close()

"""ChosenSession: a session on a server, of which only the first run shows whether it is weft's or TensorFlow's."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Sequence

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.distributed.client.remote_session import RemoteSession, master_stub
from weft.distributed.client.remote_step import RemotePartialRun, RemoteStep
from weft.distributed.client.tensorflow_session import TensorFlowPartialRun, TensorFlowSession, TensorFlowStep
from weft.distributed.rpc.stub import Answerer
from weft.errors import CancelledError, DeadlineExceededError, OpError
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.platform.waits.deadline import holding, left_s, within
from weft.protocol.limits import VARIABLE, ServerLimits, absent_advice


class ChosenSession:
    """One client's session on a server, which is asked who it is when it is first needed. Safe from any thread.

    Args:
        target: the server's `host:port`.
        graph: the client's graph.
        config: the session's ConfigProto.
    """

    def __init__(self, target: str, graph: Graph, config: ConfigProto) -> None:
        self._target = target
        self._graph = graph
        self._config = config
        self._rpc = master_stub(target, config)
        self._lock = threading.Lock()
        self._chosen: RemoteSession | TensorFlowSession | None = None
        self._closed: OpError | None = None

    def _session(self, timeout_s: float | None = None) -> RemoteSession | TensorFlowSession:
        """The session, chosen at the first call; waits for the server."""
        if self._chosen is not None:
            return self._chosen
        configured_s = max(self._config.operation_timeout_in_ms, 0) / 1000 or None
        limits_s = [limit for limit in (configured_s, timeout_s) if limit is not None]
        with within(min(limits_s, default=None)), holding(self._lock, f"another thread, which looks for {self._target}"):
            if self._chosen is None:
                answerer = self._wait_for_server(left_s())
                self._raise_if_closed()
                if answerer is Answerer.FOREIGN:
                    self._rpc.close()
                    self._chosen = TensorFlowSession(self._target, self._graph, self._config)
                else:
                    self._chosen = RemoteSession(self._target, self._graph, self._config, self._rpc)
            return self._chosen

    def _wait_for_server(self, limit_s: float | None) -> Answerer:
        """Block until the server answers, for so long at most, or as the environment's limits say of tasks that do not."""
        absent_s = ServerLimits.from_text(os.environ.get(VARIABLE, "")).absent_task_s
        if absent_s >= (math.inf if limit_s is None else limit_s):
            return self._rpc.wait_until_reachable(limit_s, self._raise_if_closed)
        try:
            return self._rpc.wait_until_reachable(absent_s, self._raise_if_closed)
        except DeadlineExceededError as error:
            raise DeadlineExceededError.of(f"{error.message}{absent_advice(absent_s)}") from None

    def _raise_if_closed(self) -> None:
        if self._closed is not None:
            raise self._closed

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        timeout_s: float | None = None,
    ) -> RemoteStep | TensorFlowStep:
        """Prepare a run; the first one waits for the server and opens the session."""
        return self._session(timeout_s).prepare(feeds, fetches, targets, left_s(timeout_s))

    def prepare_partial(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> RemotePartialRun | TensorFlowPartialRun:
        """Begin a step that is run in pieces, on the server."""
        return self._session().prepare_partial(feeds, fetches, targets)

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of the whole cluster."""
        return self._session().list_devices()

    def is_foreign(self) -> bool:
        """Whether the server is TensorFlow's; asks it, and waits for it, if it was not needed before."""
        return isinstance(self._session(), TensorFlowSession)

    def close(self) -> None:
        """End the session on the server; calls that are blocked get CancelledError."""
        self._closed = CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`.")
        if self._chosen is not None:
            self._chosen.close()
        self._rpc.close()

    def abandon(self) -> None:
        """Let the connection end."""
        if self._chosen is not None:
            self._chosen.abandon()
        self._rpc.close()

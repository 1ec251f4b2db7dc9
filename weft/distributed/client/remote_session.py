"""RemoteSession: a session on a master elsewhere, as a client's backend.

Sessions are opened and extended over gRPC; steps travel on the tensor channel.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from google.protobuf.message import Message
from tensorboard.compat.proto.config_pb2 import CallableOptions, ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

from weft.channel.heartbeats import Watch
from weft.distributed.client.call_channel import CallChannel
from weft.distributed.client.remote_step import RemotePartialRun, RemoteStep
from weft.distributed.client.unanswered import OF_OPENING
from weft.distributed.rpc import stage_reports
from weft.distributed.rpc.heartbeat_timeout import heartbeat_timeout_s
from weft.distributed.rpc.master.methods import METHODS, SERVICE, SESSION_KEY, WEFT_CLIENT
from weft.distributed.rpc.stub import ANSWER_S, RpcStub
from weft.distributed.worker.network.peer_connections import Admission
from weft.distributed.worker.worker_service import as_admission
from weft.errors import CancelledError, DeadlineExceededError, OpError, UnavailableError
from weft.framework.building.aliases import Array
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.graphs.graph import Graph
from weft.framework.graphs.growth import grown_operations
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.serial.graph_def import graph_def_of
from weft.framework.types import tensor_util
from weft.platform.waits.deadline import holding, left_s, within
from weft.platform.waits.wait_watch import Watched
from weft.proto import explain_pb2, master_pb2
from weft.runtime.choice.stage_report import StageReport

_ANSWER_S: Final = 2.0  # how long a server may take to end a session, or to take it up again


def master_stub(target: str, config: ConfigProto) -> RpcStub:
    """Calls of the master at `host:port` for a session of that ConfigProto."""
    heartbeat_s = heartbeat_timeout_s(config, os.environ)
    return RpcStub(SERVICE, METHODS, target, "The master", heartbeat_timeout_s=heartbeat_s, answer_s=ANSWER_S)


class RemoteSession:
    """One client's session on a server. Safe from any thread.

    Args:
        target: the server's `host:port`.
        graph: the client's graph; new nodes are sent before a run needs them.
        config: the session's ConfigProto.
        rpc: calls of the server's master, made by `master_stub`; the session's from now on.
    """

    def __init__(self, target: str, graph: Graph, config: ConfigProto, rpc: RpcStub | None = None) -> None:
        self._target = target
        self._graph = graph
        self._config = config
        self._rpc = rpc or master_stub(target, config)
        self._watch = Watch(heartbeat_timeout_s(config, os.environ), self._rpc.probe)
        self._timeout_s = max(config.operation_timeout_in_ms, 0) / 1000 or None
        self._lock = threading.Lock()
        self._handle = ""
        self._key = b""
        self._sent = 0
        self._sent_version = 0
        self._version = 0
        self._calls: CallChannel | None = None  # when the session is open
        self._closed: OpError | None = None
        self._retired: deque[int] = deque()
        self._extension: tuple[master_pb2.ExtendSessionRequest, int, int] | None = None  # and what will have been sent with it

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        timeout_s: float | None = None,
    ) -> RemoteStep:
        """Send new nodes and prepare the run; the first one opens the session, which waits for all tasks."""
        with within(timeout_s):
            calls = self._synchronise()
        self._release_retired()
        options = CallableOptions(
            feed=[t.name for t in feeds], fetch=[t.name for t in fetches], target=[op.name for op in targets]
        )
        request = master_pb2.MakeCallableRequest(session_handle=self._handle, options=options)
        # Ctrl-C may come when the server has prepared the run and nobody here knows its number yet.
        with within(timeout_s):
            number = self._call("MakeCallable", request, lambda response: self._retired.append(response.handle)).handle
        return RemoteStep(calls, self._handle, number, self._retired.append, self._explain, [*fetches, *targets])

    def _explain(self, number: int) -> list[StageReport]:
        """Ask what the stages of a prepared run tell about themselves."""
        request = explain_pb2.ExplainCallableRequest(session_handle=self._handle, handle=number)
        return stage_reports.decode(self._call("ExplainCallable", request).stages)

    def _release_retired(self) -> None:
        while self._retired:
            request = master_pb2.ReleaseCallableRequest(session_handle=self._handle, handle=self._retired.popleft())
            self._call("ReleaseCallable", request)

    def prepare_partial(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> RemotePartialRun:
        """Begin a step that is run in pieces, on the server."""
        self._synchronise()
        request = master_pb2.PartialRunSetupRequest(
            session_handle=self._handle,
            feed=[t.name for t in feeds],
            fetch=[t.name for t in fetches],
            target=[op.name for op in targets],
        )
        return RemotePartialRun(self._run_piece, self._call("PartialRunSetup", request).partial_run_handle)

    def _run_piece(self, handle: str, feeds: Mapping[Tensor, Array], fetches: Sequence[Tensor]) -> list[Array]:
        """Run a piece of a step that was begun with `prepare_partial`."""
        self._raise_if_closed()
        request = master_pb2.RunStepRequest(
            session_handle=self._handle, partial_run_handle=handle, fetch=[tensor.name for tensor in fetches]
        )
        for tensor, value in feeds.items():
            proto = tensor_util.make_tensor_proto(value, tensor.dtype.base_dtype)
            request.feed.add(name=tensor.name).tensor.CopyFrom(proto)
        try:
            response = self._call("RunStep", request)
        except OpError:
            self._raise_if_closed()
            raise
        return [tensor_util.make_ndarray(named.tensor) for named in response.tensor]

    def _synchronise(self) -> CallChannel:
        """Send the nodes that are new, with the session's opening at first; returns the way for calls."""
        with holding(self._lock, f"the session on {self._target}, which another thread opens or extends"):
            self._raise_if_closed()
            self._finish_extension()
            if self._calls is not None and self._sent_version == self._graph.version:
                return self._calls
            # Other threads may be building. A graph's operations keep their places, so what is new is what stands behind.
            version, operations = self._graph.version, self._graph.get_operations()
            grown = frozenset(grown_operations(self._graph, self._sent_version) if self._calls is not None else ())
            again = [op for op in operations[: self._sent] if op in grown]
            graph_def = graph_def_of(self._graph, again + operations[self._sent :])
            if self._calls is None:
                self._calls = self._open(graph_def)
                if self._closed is not None:
                    # Whoever closed it meanwhile found nothing open yet.
                    self._close_there()
                    self.abandon()
                    raise self._closed
                self._sent, self._sent_version = len(operations), version
            else:
                request = master_pb2.ExtendSessionRequest(
                    session_handle=self._handle, graph_def=graph_def, current_graph_version=self._version
                )
                self._extension = request, len(operations), version
                self._finish_extension()
            return self._calls

    def _finish_extension(self) -> None:
        """Send the nodes that are on their way, again after Ctrl-C or a deadline: nobody knows then whether they have come."""
        if self._extension is not None:
            request, sent, version = self._extension
            self._version = self._call("ExtendSession", request).new_graph_version
            self._sent, self._sent_version = sent, version
            self._extension = None

    def _open(self, graph_def: GraphDef) -> CallChannel:
        request = master_pb2.CreateSessionRequest(graph_def=graph_def, config=self._config, target=self._target)
        response = self._wait_for_server(request)
        self._handle, self._version = response.session_handle, response.graph_version
        admission = as_admission(response.channel)
        self._key = admission.token
        timeout_ms = max(self._config.operation_timeout_in_ms, 0)
        try:
            task = response.channel.task
            return CallChannel(self._target, task, admission, self._handle, timeout_ms, self._watch, self._resume)
        except BaseException as error:
            # The next run opens another session.
            self._close_there()
            if isinstance(error, UnavailableError) and left_s() == 0:
                raise DeadlineExceededError.of(f"The time is up before the session is open: {error.message}") from error
            raise

    def _resume(self) -> Admission:
        """Ask for another connection with the session: the last one was cut."""
        request = master_pb2.CloseSessionRequest(session_handle=self._handle)
        return as_admission(self._rpc.call("ResumeSession", request, _ANSWER_S, self._shown_key()).channel)

    def _wait_for_server(self, request: master_pb2.CreateSessionRequest) -> Any:
        """Create the session; a server that is started later is waited for, as its cluster is."""
        with within(self._timeout_s):
            self._rpc.wait_until_reachable(left_s(), self._raise_if_closed)
            # The master gives up by itself at the same time, and can say which tasks it has waited for.
            with Watched(lambda: f"The master at {self._target} has been opening a session", OF_OPENING):
                return self._rpc.call("CreateSession", request, metadata=((WEFT_CLIENT, b"1"),))

    def _raise_if_closed(self) -> None:
        if self._closed is not None:
            raise self._closed

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices of the whole cluster."""
        self._synchronise()
        response = self._call("ListDevices", master_pb2.ListDevicesRequest(session_handle=self._handle))
        devices = [*response.local_device, *response.remote_device]
        return [DeviceAttributes(d.name, d.memory_limit, d.incarnation) for d in sorted(devices, key=lambda d: d.name)]

    def close(self) -> None:
        """End the session on the server; calls that are blocked get CancelledError. Does not wait long."""
        if self._closed is not None:
            return
        self._closed = CancelledError.of("Step was cancelled by an explicit call to `Session::Close()`.")
        if self._calls is not None:
            self._calls.fail_calls(self._closed)
        self._close_there()
        self.abandon()

    def _close_there(self) -> None:
        """Ask the server to end the session, if it has one; a server that is gone has none any more."""
        handle, self._handle = self._handle, ""
        if handle:
            request = master_pb2.CloseSessionRequest(session_handle=handle)
            with contextlib.suppress(OpError):
                self._rpc.call("CloseSession", request, min(_ANSWER_S, self._timeout_s or _ANSWER_S), self._shown_key())

    def _call(self, name: str, request: Message, when_left: Callable[..., None] | None = None) -> Any:
        """Call a method about the session, showing that it is this client's; `when_left` as for `RpcStub.call`."""
        with within(self._timeout_s):
            return self._rpc.call(name, request, None, self._shown_key(), when_left)

    def _shown_key(self) -> Sequence[tuple[str, bytes]]:
        return ((SESSION_KEY, self._key),)

    def abandon(self) -> None:
        """Let the connection end; the server closes the sessions of a client that is gone."""
        if self._calls is not None:
            self._calls.close()
        self._rpc.close()

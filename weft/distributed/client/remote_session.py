"""RemoteSession: a session on a master elsewhere, as a client's backend.

Sessions are opened and extended over gRPC; steps travel on the tensor channel.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorboard.compat.proto import config_pb2, node_def_pb2

from weft import errors
from weft.channel.connection import Connection
from weft.channel.dial import dial
from weft.distributed.rpc.master_methods import METHODS, SERVICE
from weft.distributed.rpc.stub import RpcStub
from weft.distributed.worker.worker_service import as_admission
from weft.errors import CancelledError, DeadlineExceededError, OpError, UnavailableError
from weft.framework import tensor_util
from weft.framework.device_attributes import DeviceAttributes
from weft.framework.function_def import grown_operations
from weft.framework.graph import Graph
from weft.framework.graph_def import graph_def_of
from weft.framework.operation import Operation, Tensor
from weft.platform.interrupts import WAIT_SLICE_S, deferred_interrupts, is_main_thread
from weft.proto import master_pb2
from weft.protocol import messages
from weft.protocol.tensor_blob import Buffer
from weft.protocol.tensor_frame import RepeatedCall, encode

_DIAL_TIMEOUT_S: Final = 5.0
_LINGER_S: Final = 0.05  # Unasked, a server says no more than goodbye, and the threads of many clients shall wake rarely.
_ANSWER_S: Final = 2.0  # how long the master's own report of a timeout may take to come


class _Call:
    __slots__ = ("error", "fetches", "is_done", "metadata")

    def __init__(self) -> None:
        self.is_done = False
        self.fetches: Sequence[Any] = ()
        self.metadata = b""
        self.error: OpError | None = None

    def has_ended(self) -> bool:
        """Whether the answer has come, or will not."""
        return self.is_done


class RemoteSession:
    """One client's session on a server. Safe from any thread.

    Args:
        target: the server's `host:port`.
        graph: the client's graph; new nodes are sent before a run needs them.
        config: the session's ConfigProto.
    """

    def __init__(self, target: str, graph: Graph, config: Any) -> None:
        self._target = target
        self._graph = graph
        self._config = config
        self._rpc = RpcStub(SERVICE, METHODS, target, "The master")
        self._timeout_ms = config.operation_timeout_in_ms
        self._timeout_s = self._timeout_ms / 1000 or None
        self._lock = threading.Lock()
        self._handle = ""
        self._sent = 0
        self._sent_version = 0
        self._version = 0
        self._connection: Connection | None = None
        self._calls: dict[int, _Call] = {}
        self._call_ids = itertools.count(1)
        self._closed: OpError | None = None
        self._retired: deque[int] = deque()

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        timeout_s: float | None = None,
    ) -> RemoteStep:
        """Send new nodes and prepare the run; the first one opens the session, which waits for all tasks."""
        self._synchronise(timeout_s)
        self._release_retired()
        options = config_pb2.CallableOptions(
            feed=[t.name for t in feeds], fetch=[t.name for t in fetches], target=[op.name for op in targets]
        )
        request = master_pb2.MakeCallableRequest(session_handle=self._handle, options=options)
        number = self._rpc.call("MakeCallable", request, self._timeout_s).handle
        return RemoteStep(self, number, RepeatedCall(self._handle, number))

    def retire(self, number: int) -> None:
        """Let the server forget a prepared run when the next one is prepared; may be called from anywhere, at any time."""
        self._retired.append(number)

    def _release_retired(self) -> None:
        while self._retired:
            request = master_pb2.ReleaseCallableRequest(session_handle=self._handle, handle=self._retired.popleft())
            self._rpc.call("ReleaseCallable", request, self._timeout_s)

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
        return RemotePartialRun(self, self._rpc.call("PartialRunSetup", request, self._timeout_s).partial_run_handle)

    def run_piece(self, handle: str, feeds: Mapping[Tensor, Any], fetches: Sequence[Tensor]) -> list[Any]:
        """Run a piece of a step that was begun with `prepare_partial`."""
        self._raise_if_closed()
        request = master_pb2.RunStepRequest(
            session_handle=self._handle, partial_run_handle=handle, fetch=[tensor.name for tensor in fetches]
        )
        for tensor, value in feeds.items():
            proto = tensor_util.make_tensor_proto(value, tensor.dtype.base_dtype)
            request.feed.add(name=tensor.name).tensor.CopyFrom(proto)
        try:
            response = self._rpc.call("RunStep", request, self._timeout_s)
        except OpError:
            self._raise_if_closed()
            raise
        return [tensor_util.make_ndarray(named.tensor) for named in response.tensor]

    def _synchronise(self, timeout_s: float | None = None) -> None:
        with self._lock:
            self._raise_if_closed()
            if self._handle and self._sent_version == self._graph.version:
                return
            # Other threads may be building. A graph's operations keep their places, so what is new is what stands behind.
            version, operations = self._graph.version, self._graph.get_operations()
            grown = frozenset(grown_operations(self._graph, self._sent_version) if self._handle else ())
            again = [op for op in operations[: self._sent] if op in grown]
            graph_def = graph_def_of(self._graph, again + operations[self._sent :])
            if not self._handle:
                self._open(graph_def, timeout_s)
            else:
                request = master_pb2.ExtendSessionRequest(
                    session_handle=self._handle, graph_def=graph_def, current_graph_version=self._version
                )
                self._version = self._rpc.call("ExtendSession", request, self._timeout_s).new_graph_version
            self._sent, self._sent_version = len(operations), version

    def _open(self, graph_def: Any, timeout_s: float | None) -> None:
        request = master_pb2.CreateSessionRequest(graph_def=graph_def, config=self._config, target=self._target)
        response = self._wait_for_server(request, timeout_s)
        self._handle, self._version = response.session_handle, response.graph_version
        admission = as_admission(response.channel)
        hello = messages.Hello(messages.PROTOCOL_VERSION, "", 0, admission.token, response.channel.task)
        connection, _ = dial(admission.addresses, hello, self._on_message, self._on_closed, _DIAL_TIMEOUT_S)
        connection.reader.turn.linger_s = _LINGER_S
        self._connection = connection

    def _wait_for_server(self, request: Any, timeout_s: float | None) -> Any:
        """Create the session; a server that is started later is waited for, as its cluster is.

        `timeout_s` is what the run allows that opens the session; the session's own timeout counts too.
        """
        begin = time.monotonic()
        limits_s = [limit for limit in (self._timeout_s, timeout_s) if limit is not None]
        self._rpc.wait_until_reachable(min(limits_s, default=None), self._raise_if_closed)
        if self._timeout_s is None or (timeout_s is not None and timeout_s < self._timeout_s):
            left = None if timeout_s is None else max(timeout_s - (time.monotonic() - begin), 0.001)
            return self._rpc.call("CreateSession", request, left)
        # The master gives up by itself at the same time, and can say which tasks it has waited for.
        left_s = max(self._timeout_s - (time.monotonic() - begin), 0.0) + _ANSWER_S
        return self._rpc.call("CreateSession", request, left_s)

    def _raise_if_closed(self) -> None:
        if self._closed is not None:
            raise self._closed

    def call(self, number: int, repeated: RepeatedCall, feeds: Sequence[Any], options: Any) -> _Call:
        """Run a prepared step and wait for it.

        Raises:
            OpError: the step's error, or UnavailableError when the server is lost.
        """
        connection = self._connection
        if self._closed is not None or connection is None:
            raise self._closed or UnavailableError(None, None, f"The server at {self._target} is gone; open a new session")
        call_id, call = next(self._call_ids), _Call()
        timeout_ms = self._timeout_ms
        if options is not None:
            data, timeout_ms = options.SerializeToString(), options.timeout_in_ms or timeout_ms
            frame = encode(messages.RunCallable(call_id, self._handle, number, tuple(feeds), data))
        elif feeds:
            frame = encode(messages.RunCallable(call_id, self._handle, number, tuple(feeds), b""))
        else:
            frame = repeated.frame(call_id)
        self._calls[call_id] = call
        try:
            # The master ends a step at its deadline; the client allows for the way there and back.
            self._ask(connection, frame, call, timeout_ms / 1000 + 5.0 if timeout_ms else None)
        except BaseException:
            connection_is_there = not connection.is_closed
            if connection_is_there and not call.is_done:
                connection.send(messages.CancelCall(call_id, "the caller was interrupted"))
            raise
        finally:
            self._calls.pop(call_id, None)
        if not call.is_done:
            raise self._closed or DeadlineExceededError(None, None, f"No answer from {self._target} within {timeout_ms} ms")
        if call.error is not None:
            raise call.error
        return call

    def _ask(self, connection: Connection, frame: Sequence[Buffer], call: _Call, timeout_s: float | None) -> None:
        """Send a call and wait for its end. The main thread reads what comes for all; no interrupt must cut that in half."""
        if not is_main_thread():
            connection.send_frame(frame)
            connection.wait_for(call.has_ended, timeout_s)
            return
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with deferred_interrupts():
            connection.send_frame(frame)
            connection.wait_for(call.has_ended, WAIT_SLICE_S)
        while not call.is_done and not connection.is_closed:
            left_s = WAIT_SLICE_S if deadline is None else min(WAIT_SLICE_S, deadline - time.monotonic())
            if left_s <= 0:
                return
            with deferred_interrupts():
                connection.wait_for(call.has_ended, left_s)

    def _on_message(self, connection: Connection, message: messages.Message) -> None:
        match message:
            case messages.CallDone():
                call = self._calls.get(message.call_id)
                if call is not None:
                    call.fetches, call.metadata = message.fetches, message.metadata
                    call.is_done = True
            case messages.CallFailed(call_id, code, text, node):
                call = self._calls.get(call_id)
                if call is not None:
                    call.error = errors.from_status(code, text, node_def_pb2.NodeDef(name=node) if node else None)
                    call.is_done = True
            case _:
                return

    def _on_closed(self, connection: Connection, cause: Exception | None) -> None:
        self._connection = None
        error = self._closed or UnavailableError(
            None, None, f"The server at {self._target} is unavailable: the connection was lost ({cause or 'it said goodbye'})"
        )
        for call in list(self._calls.values()):
            call.error = call.error or error
            call.is_done = True

    def list_devices(self) -> list[Any]:
        """The devices of the whole cluster."""
        self._synchronise()
        response = self._rpc.call("ListDevices", master_pb2.ListDevicesRequest(session_handle=self._handle), self._timeout_s)
        devices = [*response.local_device, *response.remote_device]
        return [DeviceAttributes(d.name, d.memory_limit, d.incarnation) for d in sorted(devices, key=lambda d: d.name)]

    def close(self) -> None:
        """End the session on the server; calls that are blocked get CancelledError. Does not wait long."""
        if self._closed is not None:
            return
        self._closed = CancelledError(None, None, "Step was cancelled by an explicit call to `Session::Close()`.")
        if self._handle:
            # A server that is gone has no session any more.
            with contextlib.suppress(OpError):
                self._rpc.call("CloseSession", master_pb2.CloseSessionRequest(session_handle=self._handle), 2.0)
        self.abandon()

    def abandon(self) -> None:
        """Let the connection end; the server closes the sessions of a client that is gone."""
        connection = self._connection
        if connection is not None:
            connection.begin_close("the session is closed")
        self._rpc.close()


class RemoteStep:
    """A prepared run on a server, which forgets it when it is dropped here."""

    def __init__(self, session: RemoteSession, number: int, repeated: RepeatedCall) -> None:
        self._session = session
        self._number = number
        self._repeated = repeated

    def __del__(self) -> None:
        self._session.retire(self._number)

    def run(self, feeds: Sequence[Any], options: Any = None) -> tuple[list[Any], Any]:
        """Run one step there; returns the fetches and the RunMetadata, or None."""
        call = self._session.call(self._number, self._repeated, feeds, options)
        metadata = config_pb2.RunMetadata.FromString(call.metadata) if call.metadata else None
        return list(call.fetches), metadata


class RemotePartialRun:
    """A step that is run in pieces on a server."""

    def __init__(self, session: RemoteSession, handle: str) -> None:
        self._session = session
        self._handle = handle

    def run(self, feeds: Mapping[Tensor, Any], fetches: Sequence[Tensor]) -> list[Any]:
        """Run what these fetches need and has not run."""
        return self._session.run_piece(self._handle, feeds, fetches)


def reset_containers(target: str, containers: Sequence[str], timeout_s: float | None) -> None:
    """Ask the master at `host:port` to drop containers in its whole cluster."""
    stub = RpcStub(SERVICE, METHODS, target, "The master")
    try:
        stub.wait_until_reachable(timeout_s, lambda: None)
        stub.call("Reset", master_pb2.ResetRequest(container=containers), timeout_s)
    finally:
        stub.close()


def wait_until_serving(address: str, timeout_s: float, check: Callable[[], None]) -> None:
    """Block until the server at `host:port` answers; `check` is called now and then and may raise.

    Raises:
        UnavailableError: it did not answer in time.
    """
    deadline = time.monotonic() + timeout_s
    stub = RpcStub(SERVICE, METHODS, address, "The server")
    try:
        while True:
            check()
            try:
                stub.call("ListDevices", master_pb2.ListDevicesRequest(session_handle="none"), 1.0)
                return
            except (UnavailableError, DeadlineExceededError):
                if time.monotonic() > deadline:
                    raise
            except OpError:
                return
    finally:
        stub.close()

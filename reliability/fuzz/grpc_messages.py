"""Mutated requests to a server by gRPC: those of TensorFlow's master service."""

from __future__ import annotations

import random
import time
from typing import Any, Final

import grpc

import weft as tf
from reliability.fuzz.byte_mutation import mutate
from reliability.fuzz.message_mutation import MessageMutation
from weft.distributed.rpc.master.methods import METHODS, SERVICE
from weft.framework.types.tensor_util import make_tensor_proto
from weft.proto import master_pb2

_DEADLINE_S: Final = 10.0
# Stands for the handle of the session of the moment, so that a case is the same in every run.
_HANDLE: Final = "the-session-of-this-moment"
_BAD: Final = (
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.UNAVAILABLE,
)
# A request may bring a deadline of its own, which is shorter.
_LATE_S: Final = _DEADLINE_S / 2


class GrpcMessages:
    """Sends changed requests to a server in this process, and asks after each that the server still computes."""

    name = "grpc"

    def __init__(self) -> None:
        # Open to anybody: where the kernel has no socket diagnosis, asking it who calls took 15 of 17 ms a case, and that is no
        # matter of the messages (two busy cores, November 2026).
        self._server = tf.train.Server({"localhost": ["localhost:0"]}, insecure=True)
        self._channel = grpc.insecure_channel(self._server.target.removeprefix("grpc://"))
        self._graph = _graph()
        self._requests = _requests(self._graph)
        by_method = {name: [r for n, r in self._requests if n == name] for name in METHODS}
        self._mutations = {name: MessageMutation(found) for name, found in by_method.items()}
        self._numbers = list(METHODS)
        self._handle = ""
        self._uses = 0

    def make(self, source: random.Random) -> bytes:
        """Make the number of a method, one byte, and a request; one of five is changed in its bytes."""
        name, request = source.choice(self._requests)
        number = bytes([self._numbers.index(name)])
        if source.random() < 0.2:
            return number + mutate(source, request.SerializeToString())
        return number + self._mutations[name].mutate(source, request).SerializeToString()  # type: ignore[no-any-return]

    def run(self, data: bytes) -> str:
        """Send the request; answers that blame the server, and none in time, are failures."""
        if not self._handle or self._uses >= 200:
            self._renew()
        self._uses += 1
        name = self._numbers[data[0]]
        # A handle of the same length keeps the lengths around it right.
        request = data[1:].replace(_HANDLE.encode(), self._handle.encode())
        began = time.monotonic()
        try:
            answer = self._call(name, request)
        except grpc.RpcError as error:
            # An extension that fails ends the session for further ones.
            self._uses += 50 if name == "ExtendSession" else 1
            _check(name, error, time.monotonic() - began)
            return f"{name} {error.code().name}"
        if name == "CreateSession":
            self._close(master_pb2.CreateSessionResponse.FromString(answer).session_handle)
        elif name in ("CloseSession", "Reset"):
            # A changed one may have named another session, or none: left open, they would come to the server's limit in time.
            self._close(self._handle)
            self._handle = ""
        return f"{name} OK"

    def close(self) -> None:
        """End the connection and the server."""
        self._channel.close()
        self._server.stop()

    def _call(self, name: str, request: bytes) -> bytes:
        return self._channel.unary_unary(f"/{SERVICE}/{name}")(request, timeout=_DEADLINE_S)  # type: ignore[no-any-return]

    def _renew(self) -> None:
        """Open the session that the next requests are for, and see that it is the only one, and computes."""
        if self._handle:
            self._close(self._handle)
        assert not self._server.session_count, f"{self._server.session_count} sessions are open that were closed"
        request = master_pb2.CreateSessionRequest(graph_def=self._graph).SerializeToString()
        self._handle = master_pb2.CreateSessionResponse.FromString(self._call("CreateSession", request)).session_handle
        self._uses = 0
        step = master_pb2.RunStepRequest(session_handle=self._handle, fetch=["c:0"]).SerializeToString()
        assert master_pb2.RunStepResponse.FromString(self._call("RunStep", step)).tensor[0].tensor.float_val[:] == [3.0]

    def _close(self, handle: str) -> None:
        try:
            self._call("CloseSession", master_pb2.CloseSessionRequest(session_handle=handle).SerializeToString())
        except grpc.RpcError as error:
            # A mutated request may have closed it.
            _check("CloseSession", error)


def _check(name: str, error: grpc.RpcError, took_s: float = 0.0) -> None:
    """Raise where an answer blames the server, or did not come."""
    is_late = error.code() is grpc.StatusCode.DEADLINE_EXCEEDED and took_s > _LATE_S
    if is_late or error.code() in _BAD:
        raise AssertionError(f"{name}: {error.code().name}: {error.details()}") from error


def _graph() -> Any:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.matmul(x, tf.ones([2, 3]), name="y")
        tf.constant(3.0, name="c")
        tf.string_join([tf.constant("a"), tf.placeholder(tf.string, [], name="s")], name="joined")
        v = tf.Variable([1.0, 2.0], name="v")
        tf.assign_add(v, [1.0, 1.0], name="add")
        tf.global_variables_initializer()
        return graph.as_graph_def()


def _requests(graph: Any) -> list[tuple[str, Any]]:
    with tf.Graph().as_default() as other:
        tf.constant([1.0, 2.0], name="more")
        more = other.as_graph_def()
    x, s = make_tensor_proto([[1.0, 2.0]]), make_tensor_proto("b")
    step = master_pb2.RunStepRequest(session_handle=_HANDLE, fetch=["y:0", "joined:0"])
    step.feed.add(name="x:0").tensor.CopyFrom(x)
    step.feed.add(name="s:0").tensor.CopyFrom(s)
    run = master_pb2.RunStepRequest(session_handle=_HANDLE, target=["init"])
    setup = master_pb2.PartialRunSetupRequest(session_handle=_HANDLE, feed=["x:0"], fetch=["y:0", "c:0"])
    make = master_pb2.MakeCallableRequest(session_handle=_HANDLE)
    make.options.feed.append("x:0")
    make.options.fetch.append("y:0")
    call = master_pb2.RunCallableRequest(session_handle=_HANDLE, handle=1, feed=[x])
    return [
        ("CreateSession", master_pb2.CreateSessionRequest(graph_def=graph)),
        ("ExtendSession", master_pb2.ExtendSessionRequest(session_handle=_HANDLE, graph_def=more, current_graph_version=9)),
        ("RunStep", step),
        ("RunStep", run),
        ("PartialRunSetup", setup),
        ("MakeCallable", make),
        ("RunCallable", call),
        ("ReleaseCallable", master_pb2.ReleaseCallableRequest(session_handle=_HANDLE, handle=1)),
        ("ListDevices", master_pb2.ListDevicesRequest(session_handle=_HANDLE)),
        ("CloseSession", master_pb2.CloseSessionRequest(session_handle=_HANDLE)),
        ("Reset", master_pb2.ResetRequest(container=["nothing"])),
    ]

"""A session is its client's: nobody else runs it or ends it, and it ends with its client."""

from __future__ import annotations

import contextlib
import queue
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tensorboard.compat.proto.config_pb2 import CallableOptions

import weft as tf
from tests.distributed.waiting import until
from weft.channel.connection import Connection
from weft.channel.dial import dial
from weft.distributed.client.remote_session import RemoteSession
from weft.distributed.rpc.master.methods import METHODS, SERVICE, SESSION_KEY
from weft.distributed.rpc.stub import RpcStub
from weft.distributed.server.server import Server
from weft.errors import AbortedError, OpError, PermissionDeniedError, ResourceExhaustedError, UnavailableError
from weft.framework.types.tensor_util import make_ndarray
from weft.platform.hosts.free_ports import free_ports
from weft.proto import master_pb2
from weft.protocol import messages
from weft.protocol.limits import ServerLimits

PATIENCE_S = 20.0
AT_ONCE = ServerLimits(unused_session_s=0, lost_session_s=0, idle_session_s=3600)


class Client:
    """A client that says on the wire whatever a test wants it to say."""

    def __init__(self, server: Server) -> None:
        self.rpc = RpcStub(SERVICE, METHODS, server.target.removeprefix("grpc://"), "The master")
        self.answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.handle = ""
        self.connection: Connection | None = None

    def create(self) -> master_pb2.ChannelAdmission:
        """Open a session on a graph with the constant `three`."""
        with tf.Graph().as_default() as graph:
            tf.constant(3.0, name="three")
        request = master_pb2.CreateSessionRequest(graph_def=graph.as_graph_def())
        response = self.rpc.call("CreateSession", request, PATIENCE_S)
        self.handle = response.session_handle
        channel: master_pb2.ChannelAdmission = response.channel
        return channel

    def connect(self, admission: master_pb2.ChannelAdmission) -> None:
        hello = messages.Hello(messages.PROTOCOL_VERSION, "", 0, admission.token, admission.task)
        self.connection, _ = dial(
            tuple(admission.addresses), hello, lambda _, message: self.answers.put(message), lambda *_: None, PATIENCE_S
        )

    def make_callable(self, key: bytes = b"") -> int:
        request = master_pb2.MakeCallableRequest(session_handle=self.handle, options=CallableOptions(fetch=["three:0"]))
        return int(self.rpc.call("MakeCallable", request, PATIENCE_S, ((SESSION_KEY, key),)).handle)

    def run(self, handle: str, number: int) -> Any:
        assert self.connection is not None
        self.connection.send(messages.RunCallable(1, handle, number, (), b""))
        return self.answers.get(timeout=PATIENCE_S)

    def fetch(self) -> float:
        """Run a step by gRPC alone, as TensorFlow's clients do."""
        request = master_pb2.RunStepRequest(session_handle=self.handle, fetch=["three:0"])
        return float(make_ndarray(self.rpc.call("RunStep", request, PATIENCE_S).tensor[0].tensor))

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.rpc.close()


def until_swept(server: Server) -> None:
    """Wait until the sweeps have closed every session."""

    def is_collected() -> bool:
        server.sweep()
        return server.session_count == 0

    until(is_collected)


NewClient = Callable[[Server], Client]


@pytest.fixture
def client() -> Iterator[NewClient]:
    made: list[Client] = []

    def make(server: Server) -> Client:
        made.append(Client(server))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_whoever_knows_a_session_s_handle_neither_runs_it_nor_ends_it_by_leaving(client: NewClient) -> None:
    with Server.create_local_server() as server:
        owner, thief = client(server), client(server)
        admission = owner.create()
        owner.connect(admission)
        thief.connect(thief.create())
        number = owner.make_callable(admission.token)
        refused = thief.run(owner.handle, number)
        assert isinstance(refused, messages.CallFailed)
        assert refused.code == tf.errors.PERMISSION_DENIED
        assert f"Session {owner.handle} is not the one that this connection was admitted for" in refused.message
        assert thief.connection is not None
        thief.connection.close()
        until(lambda: server.session_count == 1)
        assert owner.run(owner.handle, number).fetches == (np.float32(3),)


def test_a_handle_is_not_enough_to_call_a_session_by_grpc_either(client: NewClient) -> None:
    with Server.create_local_server() as server:
        owner, thief = client(server), client(server)
        admission = owner.create()
        owner.connect(admission)
        number = owner.make_callable(admission.token)
        thief.handle = owner.handle
        for attempt in (thief.fetch, thief.make_callable, lambda: thief.make_callable(b"x" * 16)):
            with pytest.raises(PermissionDeniedError, match="is another client's: its handle is not enough"):
                attempt()
        with pytest.raises(PermissionDeniedError, match="is another client's"):
            thief.rpc.call("CloseSession", master_pb2.CloseSessionRequest(session_handle=owner.handle), PATIENCE_S)
        assert owner.run(owner.handle, number).fetches == (np.float32(3),)


def test_a_token_shown_for_another_sender_is_good_for_nobody(client: NewClient) -> None:
    with Server.create_local_server() as server:
        owner = client(server)
        admission = owner.create()
        hello = messages.Hello(messages.PROTOCOL_VERSION, "/job:ps/replica:0/task:0", 1, admission.token, admission.task)
        with pytest.raises(UnavailableError, match="token is not this task's"):
            dial(tuple(admission.addresses), hello, lambda *_: None, lambda *_: None, PATIENCE_S)
        with pytest.raises(UnavailableError, match="token is not this task's"):
            owner.connect(admission)


def test_a_session_that_was_never_run_ends_with_its_client_s_connection(client: NewClient) -> None:
    with Server.create_local_server() as server:
        owner = client(server)
        owner.connect(owner.create())
        assert server.session_count == 1
        assert owner.connection is not None
        owner.connection.close()
        until(lambda: server.session_count == 0)


def test_a_session_whose_client_never_comes_is_closed(client: NewClient) -> None:
    with Server({"a": ["localhost:0"]}, limits=AT_ONCE) as server:
        gone = client(server)
        gone.create()
        assert server.session_count == 1
        server.sweep()
        assert server.session_count == 0
        with pytest.raises(AbortedError, match="is not found"):
            gone.fetch()


def test_a_client_by_grpc_alone_keeps_its_session_while_its_connection_stands(client: NewClient) -> None:
    with Server({"a": ["localhost:0"]}, limits=AT_ONCE) as server:
        like_tensorflow = client(server)
        like_tensorflow.create()
        assert like_tensorflow.fetch() == 3
        server.sweep()
        assert like_tensorflow.fetch() == 3
        like_tensorflow.close()
        until_swept(server)


def test_a_client_that_cannot_connect_leaves_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    with Server.create_local_server() as server, tf.Graph().as_default() as graph:
        one = tf.constant(1)
        session = RemoteSession(server.target.removeprefix("grpc://"), graph, tf.ConfigProto())

        def fail(*_: Any, **__: Any) -> None:
            raise UnavailableError.of("no way")

        monkeypatch.setattr("weft.distributed.client.call_channel.dial", fail)
        with pytest.raises(UnavailableError, match="no way"):
            session.prepare([], [one], [])
        assert server.session_count == 0
        session.close()


def test_so_many_sessions_are_open_and_no_more(client: NewClient) -> None:
    with Server({"a": ["localhost:0"]}, limits=ServerLimits(max_sessions=2)) as server:
        clients = [client(server) for _ in range(3)]
        for each in clients[:2]:
            each.create()
        with pytest.raises(
            ResourceExhaustedError, match=r"too many open sessions.*: 3, and the limit is 2. It is max_sessions"
        ):
            clients[2].create()
        clients[0].rpc.call("CloseSession", master_pb2.CloseSessionRequest(session_handle=clients[0].handle), PATIENCE_S)
        clients[2].create()


def test_limits_come_from_the_environment_too(client: NewClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_LIMITS", "max_graph_nodes=0")
    with (
        Server({"a": ["localhost:0"]}) as server,
        pytest.raises(ResourceExhaustedError, match="too many nodes: 1, and the limit is 0"),
    ):
        client(server).create()


def test_closing_sessions_while_they_prepare_leaves_no_graph() -> None:
    limits = ServerLimits(unused_session_s=1)
    with (
        Server({"a": ["localhost:0"]}, limits=limits) as server,
        tf.Graph().as_default() as graph,
        ThreadPoolExecutor(8) as pool,
    ):
        total = tf.add_n([tf.constant(float(number)) for number in range(50)])
        sessions = [RemoteSession(server.target.removeprefix("grpc://"), graph, tf.ConfigProto()) for _ in range(60)]
        waits = random.Random(0)

        def close_meanwhile(session: RemoteSession, delay_s: float) -> None:
            timer = threading.Timer(delay_s, session.close)
            timer.start()
            with contextlib.suppress(OpError):
                while True:
                    session.prepare([], [total], [])
            timer.join()

        done = [pool.submit(close_meanwhile, session, waits.uniform(0.001, 0.05)) for session in sessions]
        for each in done:
            each.result(PATIENCE_S)
        # A client that gave up before it heard of its session has left it unused.
        until_swept(server)
        assert server.worker.graph_count == 0


_CHIEF = """
import sys
import weft as tf
with tf.train.Server({spec!r}, "chief", 0) as server:
    with tf.device("/job:ps/task:0"):
        v = tf.Variable(1.0)
    session = tf.Session(server.target)
    session.run(v.initializer)
    print("up", flush=True)
    sys.stdin.read()
"""


def test_a_killed_master_leaves_no_graph_on_other_tasks() -> None:
    ps_port, chief_port = free_ports(2)
    spec = {"ps": [f"localhost:{ps_port}"], "chief": [f"localhost:{chief_port}"]}
    with Server(spec, "ps", 0, limits=AT_ONCE) as ps:
        command = [sys.executable, "-c", _CHIEF.format(spec=spec)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as chief:
            try:
                assert chief.stdout is not None
                assert chief.stdout.readline() == "up\n"
                ps.sweep()
                assert ps.worker.graph_count > 0
            finally:
                chief.kill()

        def is_forgotten() -> bool:
            ps.sweep()
            return ps.worker.graph_count == 0

        until(is_forgotten)

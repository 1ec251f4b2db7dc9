"""A client's calls are answered in any order, fail with the server's error, and end with the connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tensorboard.compat.proto.config_pb2 import RunOptions

from weft.channel.connection import Connection
from weft.channel.listener import Listener, has_token
from weft.distributed.client.call_channel import CallChannel
from weft.distributed.worker.network.peer_connections import Admission
from weft.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, UnavailableError
from weft.protocol import messages
from weft.protocol.tensor_frame import RepeatedCall

PATIENCE_S = 20.0
TASK = "/job:a/replica:0/task:0"


class Master:
    """Takes calls, and answers those that a test has made up its mind about."""

    def __init__(self) -> None:
        self.calls: list[messages.RunCallable] = []
        self.cancelled = threading.Event()
        self.arrived = threading.Semaphore(0)
        self.answers_at_once = True
        self.connections: list[Connection] = []
        self.listener = Listener(
            "127.0.0.1", 0, receiver=TASK, incarnation=1, has_permission=has_token(b"t"),
            on_connection=lambda connection, hello: self.connections.append(connection), on_message=self._on_message,
            on_closed=lambda connection, cause: None,
        )  # fmt: skip

    def _on_message(self, connection: Connection, message: messages.Message) -> None:
        if isinstance(message, messages.CancelCall):
            self.cancelled.set()
            return
        assert isinstance(message, messages.RunCallable)
        self.calls.append(message)
        self.arrived.release()
        if self.answers_at_once:
            self.answer(message)

    def answer(self, call: messages.RunCallable) -> None:
        """Answer with the feeds."""
        self.connections[0].send(messages.CallDone(call.call_id, call.feeds, b""))


@pytest.fixture
def master() -> Iterator[Master]:
    master = Master()
    yield master
    master.listener.stop()


@pytest.fixture
def channel(master: Master) -> Iterator[CallChannel]:
    admission = Admission(master.listener.addresses, b"t", 1)
    channel = CallChannel("host:1", TASK, admission, "session", timeout_ms=0)
    yield channel
    channel.close()


def call(channel: CallChannel, *values: float, options: RunOptions | None = None) -> list[float]:
    feeds = [np.float32(value) for value in values]
    return [float(value) for value in channel.call(3, RepeatedCall("session", 3), feeds, options).fetches]


def test_a_call_names_its_session_and_step(channel: CallChannel, master: Master) -> None:
    assert call(channel, 1, 2) == [1, 2]
    assert call(channel) == []
    assert call(channel, options=RunOptions(timeout_in_ms=5000)) == []
    assert {(sent.session_handle, sent.callable_id) for sent in master.calls} == {("session", 3)}
    assert [RunOptions.FromString(sent.options).timeout_in_ms for sent in master.calls] == [0, 0, 5000]


def test_answers_come_in_any_order(channel: CallChannel, master: Master) -> None:
    master.answers_at_once = False
    with ThreadPoolExecutor() as pool:
        results = [pool.submit(call, channel, value) for value in range(3)]
        for _ in results:
            assert master.arrived.acquire(timeout=PATIENCE_S)
        for sent in reversed(master.calls):
            master.answer(sent)
        assert [result.result(PATIENCE_S) for result in results] == [[0], [1], [2]]


def test_a_failure_has_its_class_and_node(channel: CallChannel, master: Master) -> None:
    master.answers_at_once = False
    with ThreadPoolExecutor() as pool:
        result = pool.submit(call, channel)
        assert master.arrived.acquire(timeout=PATIENCE_S)
        failed = messages.CallFailed(master.calls[0].call_id, InvalidArgumentError(None, None, "").error_code, "bad", "node")
        master.connections[0].send(failed)
        error = result.exception(PATIENCE_S)
    assert isinstance(error, InvalidArgumentError)
    assert (error.message, error.node_def.name) == ("bad", "node")


def test_calls_end_with_the_connection_and_no_more_are_made(channel: CallChannel, master: Master) -> None:
    master.answers_at_once = False
    with ThreadPoolExecutor() as pool:
        result = pool.submit(call, channel)
        assert master.arrived.acquire(timeout=PATIENCE_S)
        master.connections[0].close()
        assert isinstance(result.exception(PATIENCE_S), UnavailableError)
    with pytest.raises(UnavailableError, match="host:1 is gone; open a new session"):
        call(channel)


def test_a_session_that_is_closed_says_so_to_all_its_calls(channel: CallChannel, master: Master) -> None:
    master.answers_at_once = False
    with ThreadPoolExecutor() as pool:
        result = pool.submit(call, channel)
        assert master.arrived.acquire(timeout=PATIENCE_S)
        channel.fail_calls(CancelledError(None, None, "closed"))
        channel.close()
        assert isinstance(result.exception(PATIENCE_S), CancelledError)
    with pytest.raises(CancelledError, match="closed"):
        call(channel)


def test_a_call_that_is_interrupted_is_cancelled_at_the_server(
    channel: CallChannel, master: Master, monkeypatch: pytest.MonkeyPatch
) -> None:
    master.answers_at_once = False

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Connection, "wait_for", interrupt)
    with pytest.raises(KeyboardInterrupt):
        call(channel)
    assert master.cancelled.wait(PATIENCE_S)


def test_a_server_that_does_not_answer_in_time_is_given_up(
    channel: CallChannel, master: Master, monkeypatch: pytest.MonkeyPatch
) -> None:
    master.answers_at_once = False
    monkeypatch.setattr("weft.distributed.client.call_channel._ANSWER_S", 0.01)
    with pytest.raises(DeadlineExceededError, match="No answer from host:1 within 10 ms"):
        call(channel, options=RunOptions(timeout_in_ms=10))

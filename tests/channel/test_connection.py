"""Connections: every transport conforms; a bad peer, a bad handler or a fork hurts nobody else."""

from __future__ import annotations

import faulthandler
import gc
import logging
import os
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.channel.transport.read_ahead import ReadAhead
from weft.channel.connection import Connection
from weft.channel.dial import dial
from weft.channel.listener import Listener, has_token
from weft.channel.transport.memory import CAPACITY_BYTES, memory_pair
from weft.channel.transport.transport import Transport
from weft.channel.transport.unix import UnixTransport
from weft.channel.waiting.reader_pool import ReaderPool
from weft.channel.waiting.wakeup_pipe import of_this_thread
from weft.errors import UnavailableError
from weft.protocol.messages import PROTOCOL_VERSION, Abort, Goodbye, Hello, Message, Ping, Pong, Push, Welcome
from weft.protocol.protocol_error import LocalProtocolError, RemoteProtocolError
from weft.protocol.tensor_frame import FrameDecoder, encode
from weft.testing.channel_conformance import CHECKS, PATIENCE_S, Channel, Endpoint, OpenPair, let_waiters_read

PS = "/job:ps/replica:0/task:0"


def open_descriptors() -> set[str]:
    gc.collect()
    return {os.readlink(path) for path in Path("/proc/self/fd").iterdir() if path.exists()}


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    assert of_this_thread.pipe  # the thread keeps it
    before = open_descriptors()
    running = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - running:
        if thread.name == "weft-wait-watch":
            continue  # the process has one, which ends by itself 5 s after the last wait
        if thread.name.startswith("weft-") or isinstance(thread, threading.Timer):
            thread.join(PATIENCE_S)
            assert not thread.is_alive()
    assert open_descriptors() <= before


@pytest.fixture(params=["unix", "tcp", "shared", "memory", "narrow memory", "read-ahead", "read-ahead pool"])
def open_pair(request: pytest.FixtureRequest) -> Iterator[OpenPair]:
    """Opens connections by every transport: of a client, and of a task, which has shared memory as well; and in memory.

    A client's other end is read by a pool, a task's by a thread of its own.
    """
    yield from (_by_listener if request.param in ("unix", "tcp", "shared") else _in_memory)(request.param)


def _in_memory(kind: str) -> Iterator[OpenPair]:
    pool = ReaderPool("test") if kind.endswith("pool") else None
    connections: list[Connection] = []

    def open_it(left: Endpoint, right: Endpoint, max_queued_bytes: int) -> tuple[Channel, Channel]:
        ends: list[Transport] = [*memory_pair(1 << 16 if kind.startswith("narrow") else CAPACITY_BYTES)]
        if kind.startswith("read-ahead"):
            ends = [ReadAhead(end) for end in ends]
        for end, endpoint, reader in zip(ends, (left, right), (None, pool), strict=True):
            connection = Connection(end, endpoint.on_message, endpoint.on_closed, "peer", max_queued_bytes=max_queued_bytes)
            connection.start(reader)
            connections.append(connection)
        return connections[-2], connections[-1]

    yield open_it
    for connection in connections:
        connection.abort(None)
        connection.join()
    if pool is not None:
        pool.join()


def _by_listener(kind: str) -> Iterator[OpenPair]:
    listeners: list[Listener] = []
    is_shared = kind == "shared"
    transport = "unix" if is_shared else kind

    def open_it(left: Endpoint, right: Endpoint, max_queued_bytes: int) -> tuple[Channel, Channel]:
        accepted: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        listener = Listener(
            "127.0.0.1",
            0,
            receiver=PS,
            incarnation=1,
            has_permission=has_token(b"token"),
            on_connection=lambda connection, hello: accepted.put(connection),
            on_message=right.on_message,
            on_closed=right.on_closed,
            max_queued_bytes=max_queued_bytes,
        )
        listeners.append(listener)
        addresses = [address for address in listener.addresses if address.startswith(transport)]
        hello = Hello(PROTOCOL_VERSION, "/job:worker/replica:0/task:0" if is_shared else "", 1, b"token", PS)
        connection, _ = dial(addresses, hello, left.on_message, left.on_closed, PATIENCE_S, max_queued_bytes=max_queued_bytes)
        assert connection.transport == transport
        return connection, accepted.get(timeout=PATIENCE_S)

    yield open_it
    for listener in listeners:
        listener.stop()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_connections_conform_by_every_transport(check: Callable[[OpenPair], None], open_pair: OpenPair) -> None:
    check(open_pair)


@pytest.fixture
def wired() -> Iterator[tuple[socket.socket, Connection, Endpoint]]:
    """A raw socket whose other end is a connection."""
    raw, sock = socket.socketpair()
    endpoint = Endpoint()
    connection = Connection(UnixTransport(sock), endpoint.on_message, endpoint.on_closed, "peer")
    connection.start()
    with raw:
        yield raw, connection, endpoint
        connection.abort(None)
        connection.join()


Wired = tuple[socket.socket, Connection, Endpoint]


def read_all(raw: socket.socket) -> list[Message]:
    raw.settimeout(PATIENCE_S)
    decoder, out = FrameDecoder(), []
    while count := raw.recv_into(decoder.get_buffer()):
        out += decoder.buffer_received(count)
    decoder.end_of_stream()
    return out


def frame(message: Message) -> bytes:
    return b"".join(encode(message))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: ps\r\n\r\n", "no frame does"),
        (frame(Ping(1))[:-1] + b"\xc1", "damaged"),
        (frame(Hello(PROTOCOL_VERSION, "", 1, b"", "")), "a Hello came after the admission"),
        (frame(Welcome("", 1)), "a Welcome came after the admission"),
    ],
)
def test_a_violation_closes_the_connection_with_a_logged_reason(
    data: bytes, reason: str, wired: Wired, caplog: pytest.LogCaptureFixture
) -> None:
    raw, connection, endpoint = wired
    with caplog.at_level(logging.WARNING, "weft"):
        raw.sendall(data)
        cause = endpoint.end()
        connection.join()
    assert isinstance(cause, RemoteProtocolError)
    assert reason in str(cause)
    assert f"closed the connection to peer: protocol violation: {cause}" in caplog.text


def test_messages_before_a_violation_are_handled(wired: Wired) -> None:
    raw, _, endpoint = wired
    raw.sendall(frame(Abort(1, 1, "")) + b"\xff" * 16)
    assert endpoint.receive() == Abort(1, 1, "")
    assert isinstance(endpoint.end(), RemoteProtocolError)


def test_a_stream_that_ends_within_a_message_is_a_violation(wired: Wired) -> None:
    raw, _, endpoint = wired
    raw.sendall(frame(Push(1, (0,), (np.zeros(100_000),)))[:50_000])
    raw.shutdown(socket.SHUT_WR)
    assert "middle of a message" in str(endpoint.end())


def test_an_end_without_a_goodbye_is_a_loss(wired: Wired) -> None:
    raw, connection, endpoint = wired
    raw.shutdown(socket.SHUT_WR)
    cause = endpoint.end()
    assert isinstance(cause, UnavailableError)
    assert cause.message == "the connection to peer was lost: the peer closed it without a goodbye"
    with pytest.raises(UnavailableError, match="is closed: the connection to peer was lost"):
        connection.send(Ping(1))


def test_a_goodbye_ends_it_and_says_why(wired: Wired) -> None:
    raw, connection, endpoint = wired
    connection.begin_close("maintenance")
    assert read_all(raw) == [Goodbye("maintenance")]
    raw.shutdown(socket.SHUT_WR)
    assert endpoint.end() is None


def test_a_close_does_not_wait_longer_than_its_timeout_for_a_peer_that_does_not_read(wired: Wired) -> None:
    _, connection, endpoint = wired
    connection.send(Push(1, (0,), (np.zeros(16 << 20, np.uint8),)))
    connection.close(timeout_s=0.01)
    assert endpoint.end() is None
    assert connection.is_closed
    assert connection.queued_bytes == 0


def test_what_cannot_be_sent_leaves_the_connection_open(wired: Wired) -> None:
    raw, connection, _ = wired
    with pytest.raises(LocalProtocolError):
        connection.send(Push(1, (0,), (np.array(["text"], object),)))
    connection.send(Ping(5))
    connection.begin_close()
    assert read_all(raw) == [Ping(5), Goodbye("")]


def test_a_message_that_is_held_goes_with_the_next_one_or_at_a_flush(wired: Wired) -> None:
    raw, connection, _ = wired
    connection.hold(Ping(1))
    connection.send(Pong(2))
    connection.hold(Ping(3))
    connection.flush()
    connection.flush()
    connection.hold(Ping(4))
    connection.begin_close("enough")
    assert read_all(raw) == [Ping(1), Pong(2), Ping(3), Ping(4), Goodbye("enough")]


def test_a_message_with_large_values_is_held_in_order(wired: Wired) -> None:
    raw, connection, _ = wired
    values = np.arange(1 << 16)
    connection.hold(Ping(1))
    connection.hold(Push(1, (0,), (values,)))
    assert connection.outbox.is_holding
    connection.send(Pong(2))
    connection.begin_close()
    first, push, *others = read_all(raw)
    assert [first, *others] == [Ping(1), Pong(2), Goodbye("")]
    assert isinstance(push, Push)
    np.testing.assert_array_equal(push.tensors[0], values)


def test_a_message_that_is_too_large_to_be_held_is_sent(wired: Wired) -> None:
    raw, connection, _ = wired
    values = np.arange(1 << 16)
    connection.hold(Push(1, (0,), (values,)), if_small=True)
    assert not connection.outbox.is_holding
    connection.begin_close()
    push, _ = read_all(raw)
    assert isinstance(push, Push)
    np.testing.assert_array_equal(push.tensors[0], values)


def test_nothing_is_held_for_a_peer_that_is_gone(wired: Wired) -> None:
    raw, connection, _ = wired
    connection.hold(Ping(1))
    connection.abort(None)
    connection.join()
    connection.flush()
    with pytest.raises(UnavailableError, match="the connection to peer is closed"):
        connection.hold(Ping(2))
    assert raw.recv(100) == b""


def test_an_owner_that_fails_to_take_note_of_the_end_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    raw, sock = socket.socketpair()

    def fail(connection: Connection, cause: Exception | None) -> None:
        raise ValueError("owner's mistake")

    connection = Connection(UnixTransport(sock), Endpoint().on_message, fail, "peer")
    connection.start()
    with raw:
        connection.abort(None)
        connection.join()
    assert connection.is_closed
    assert "failed to take note of its end" in caplog.text


class Interrupted:
    """Stands for a wait or a handler during which Ctrl-C is pressed."""

    @property
    def skips(self) -> int:
        raise KeyboardInterrupt


def test_an_interrupted_waiter_leaves_the_connection_in_order(wired: Wired, monkeypatch: pytest.MonkeyPatch) -> None:
    raw, connection, endpoint = wired
    let_waiters_read(connection, endpoint, lambda: raw.sendall(frame(Pong(1))))
    with monkeypatch.context() as patch:
        patch.setattr(connection, "_quick", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            connection.wait_for(lambda: False)
    raw.sendall(frame(Abort(1, 1, "")))
    assert endpoint.receive() == Abort(1, 1, "")


def test_a_waiter_interrupted_while_it_handles_a_message_ends_the_connection() -> None:
    raw, sock = socket.socketpair()
    endpoint = Endpoint(lambda connection, message: Interrupted().skips if isinstance(message, Abort) else None)
    connection = Connection(UnixTransport(sock), endpoint.on_message, endpoint.on_closed, "peer")
    connection.start()
    with raw:
        let_waiters_read(connection, endpoint, lambda: raw.sendall(frame(Pong(1))))
        raw.sendall(frame(Abort(1, 1, "")))
        with pytest.raises(KeyboardInterrupt):
            connection.wait_for(lambda: False)
        cause = endpoint.end()
        connection.join()
    assert isinstance(cause, UnavailableError)
    assert "was interrupted" in cause.message


# JAX, if a test before this one has started it, warns of every fork. The child here does not use it.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_forked_child_gives_its_copy_up_and_the_parent_goes_on(wired: Wired) -> None:
    raw, connection, endpoint = wired
    pid = os.fork()
    if pid == 0:
        faulthandler.dump_traceback_later(PATIENCE_S, exit=True)  # says where a child waits that should not
        try:
            connection.close()
            connection.abort(None)
            try:
                connection.send(Ping(1))
            except UnavailableError as error:
                os._exit(0 if "belongs to the parent process" in error.message else 3)
            os._exit(2)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    raw.sendall(frame(Abort(1, 1, "")))
    assert endpoint.receive() == Abort(1, 1, "")
    connection.send(Ping(6))
    assert raw.recv(1000) == frame(Ping(6))

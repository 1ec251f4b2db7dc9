"""Heartbeats over real connections: who is idle is heard, who is half open is given up, and one thread beats for all."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import numpy as np
import pytest

from weft.channel.connection import Connection
from weft.channel.heartbeats import Heartbeats, Watch, _Beating, _tell, heartbeats
from weft.channel.transport.peer_evidence import process_evidence
from weft.channel.transport.unix import UnixTransport
from weft.platform.waits import wait_notice
from weft.protocol.heartbeat import Evidence
from weft.protocol.messages import Push
from weft.testing.channel_conformance import PATIENCE_S, Endpoint

QUICK_S = 0.25


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def connection_on(stack: ExitStack, sock: socket.socket, endpoint: Endpoint, watch: Watch) -> Connection:
    connection = Connection(UnixTransport(sock), endpoint.on_message, endpoint.on_closed, "peer", watch=watch)
    connection.start()
    stack.callback(connection.join)
    stack.callback(connection.abort, None)
    return connection


def pair(stack: ExitStack, watch: Watch) -> tuple[Connection, Connection, Endpoint]:
    left, right = socket.socketpair()
    endpoint = Endpoint()
    return connection_on(stack, left, endpoint, watch), connection_on(stack, right, Endpoint(), watch), endpoint


def told(evidence: Evidence) -> Watch:
    """A watch that relies on what another way tells, as where the kernel knows nothing of the peer."""
    return Watch(QUICK_S, lambda timeout_s: evidence)


@pytest.fixture
def _hidden_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.channel.transport.unix.unix_evidence", lambda sock: Evidence.UNKNOWN)


def beats_of(connection: Connection, count: int) -> None:
    """Wait until so much has been received."""
    enough = connection.reader.received_count + count
    deadline_s = time.monotonic() + PATIENCE_S
    while connection.reader.received_count < enough:
        assert time.monotonic() < deadline_s
        assert not connection.is_closed
        threading.Event().wait(0.01)


def test_peers_that_exchange_nothing_hear_each_other(stack: ExitStack) -> None:
    left, right, endpoint = pair(stack, told(Evidence.UNREACHED))
    beats_of(left, 10)
    beats_of(right, 10)
    assert endpoint.take() == []  # nobody sees a heartbeat


@pytest.mark.usefixtures("_hidden_peer")
def test_a_peer_that_says_nothing_and_is_not_found_elsewhere_is_given_up_with_the_reason(stack: ExitStack) -> None:
    here, there = socket.socketpair()
    stack.enter_context(there)
    endpoint = Endpoint()
    connection_on(stack, here, endpoint, told(Evidence.UNREACHED))
    assert "nothing was heard from peer for 0.2 s, and it cannot be reached in another way" in str(endpoint.end())


@pytest.mark.usefixtures("_hidden_peer")
def test_a_half_open_connection_is_given_up(stack: ExitStack) -> None:
    here, there = socket.socketpair()
    stack.enter_context(there)
    endpoint = Endpoint()
    connection_on(stack, here, endpoint, told(Evidence.PASSED_BY))
    assert "half open" in str(endpoint.end())


def test_a_connection_that_a_running_process_has_forgotten_is_given_up(stack: ExitStack) -> None:
    here, there = socket.socketpair()  # of this process, which runs and does not read it
    stack.enter_context(there)
    endpoint = Endpoint()
    connection_on(stack, here, endpoint, told(Evidence.PASSED_BY))
    assert "its process runs and answers in another way" in str(endpoint.end())


@pytest.mark.usefixtures("_hidden_peer")
def test_a_peer_whose_reader_computes_is_heard(stack: ExitStack) -> None:
    here, there = socket.socketpair()
    release = threading.Event()
    endpoint = Endpoint()
    watch = told(Evidence.PASSED_BY)
    sender = connection_on(stack, here, endpoint, watch)
    busy = Connection(
        UnixTransport(there), lambda connection, message: release.wait(PATIENCE_S), lambda *_: None, "sender", watch=watch
    )
    busy.start()
    stack.callback(busy.join)
    stack.callback(busy.abort, None)
    stack.callback(release.set)
    sender.send(Push(1, (0,), (np.zeros(4),)))
    beats_of(sender, 20)
    assert not busy.is_closed


def test_a_process_that_runs_is_busy_and_one_that_is_gone_is_stopped() -> None:
    assert process_evidence(os.getpid()) is Evidence.BUSY
    child = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(child, 0)
    assert process_evidence(child) is Evidence.STOPPED


def test_one_thread_wakes_once_for_all_connections(stack: ExitStack) -> None:
    beating = Heartbeats()

    class Peer:
        name = "peer"
        received_count = 0
        queued_bytes = 0

        def __init__(self) -> None:
            self.sent = 0

        def fileno(self) -> int:
            return 0

        def send_frame(self, frame: object) -> None:
            self.sent += 1

        def evidence(self, silent_s: float) -> Evidence:
            return Evidence.BUSY

        def abort(self, cause: Exception | None) -> None:
            raise AssertionError(cause)

    peers = [Peer() for _ in range(100)]
    for peer in peers:
        beating.add(peer, Watch(QUICK_S))
    deadline_s = time.monotonic() + PATIENCE_S
    while peers[-1].sent < 10 and time.monotonic() < deadline_s:
        threading.Event().wait(0.01)
    sent = sum(peer.sent for peer in peers)
    for peer in peers:
        beating.remove(peer)
    assert sent >= 10 * 99
    # Those that were added between two beats wait for the next one.
    assert beating.wake_ups <= sent / 100 + 3


def test_a_peer_that_is_waited_for_is_told_of(stack: ExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 2 * QUICK_S)
    came = threading.Event()
    waits = logging.getLogger("weft.waits")

    def note(record: logging.LogRecord) -> bool:
        texts.append(record.getMessage())
        came.set()
        return True

    texts: list[str] = []
    waits.addFilter(note)
    stack.callback(waits.removeFilter, note)
    here, there = socket.socketpair()
    stack.enter_context(there)
    monkeypatch.setattr("weft.channel.transport.unix.unix_evidence", lambda sock: Evidence.BUSY)
    connection_on(stack, here, Endpoint(), told(Evidence.BUSY))
    assert came.wait(PATIENCE_S)
    text = texts[0]
    assert "Nothing was heard from peer for" in text
    assert "its process runs and does not answer" in text


def test_there_is_no_thread_without_connections(stack: ExitStack) -> None:
    left, _, _ = pair(stack, Watch())
    threads = [thread for thread in threading.enumerate() if thread.name == "weft-heartbeats"]
    assert len(threads) == 1
    stack.close()
    assert left.is_closed
    threads[0].join(PATIENCE_S)
    assert not threads[0].is_alive()
    assert isinstance(heartbeats, Heartbeats)


def test_each_silence_is_told_of_anew_and_none_of_a_peer_that_is_heard(caplog: pytest.LogCaptureFixture) -> None:
    peer = SimpleNamespace(name="peer", received_count=1, queued_bytes=1)
    beating = _Beating(peer, Watch(30.0), 0.0)  # type: ignore[arg-type]
    for silent_s in (40.0, 40.0, 70.0):
        _tell(beating, Evidence.HEARD, silent_s)
        _tell(beating, Evidence.BUSY, 30.0)
        _tell(beating, Evidence.BUSY, silent_s)
        peer.received_count += 1
        Heartbeats()._beat(beating)
    assert [record.args[1] for record in caplog.records] == [30.0, 30.0, 30.0, 70.0]  # type: ignore[index, call-overload]

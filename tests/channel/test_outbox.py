"""The queue for a slow peer is bounded: producers wait their turn, and none is forgotten."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.told_waits import ToldWaits, tell_soon
from weft.channel.outbox import Outbox
from weft.channel.transport.unix import UnixTransport

LIMIT_BYTES = 1 << 20
LARGE = bytes(8 << 20)  # more than the sockets hold
PATIENCE_S = 20.0


class Peer:
    """An outbox and the other end of its socket."""

    def __init__(self, name: str) -> None:
        self.end, own = socket.socketpair()
        self._own = UnixTransport(own)
        self.outbox = Outbox(self._own, name, LIMIT_BYTES, lambda error: None)
        self.started: list[int] = []
        self.has_started = threading.Semaphore(0)

    def wait(self, number: int) -> bool:
        """Let a numbered producer wait for room."""

        def start() -> None:
            self.started.append(number)
            self.has_started.release()

        return self.outbox.wait_for_room(start)

    def read(self, size_bytes: int) -> None:
        """Read so much of what was sent."""
        self.end.settimeout(PATIENCE_S)
        while size_bytes:
            size_bytes -= len(self.end.recv(min(size_bytes, 1 << 20)))

    def end_it(self) -> None:
        self.end.close()
        self._own.shut_down()
        self.outbox.stop()
        self._own.close()


@pytest.fixture
def peer(request: pytest.FixtureRequest) -> Iterator[Peer]:
    """A peer that reads nothing by itself. Its name is the test's: a wait for one that was told of before is told of later."""
    peer = Peer(request.node.name)
    yield peer
    peer.end_it()


def test_nobody_waits_for_a_peer_that_keeps_up(peer: Peer) -> None:
    peer.outbox.send([b"small"], block=False)
    assert peer.outbox.has_room
    assert not peer.wait(1)


def test_producers_wait_for_a_peer_that_does_not_read_and_start_one_at_a_time(peer: Peer) -> None:
    peer.outbox.send([LARGE], block=False)
    assert not peer.outbox.has_room
    assert [peer.wait(number) for number in (1, 2, 3)] == [True, True, True]
    assert peer.started == []
    peer.read(len(LARGE))
    assert peer.has_started.acquire(timeout=PATIENCE_S)
    assert peer.started == [1]
    assert not peer.outbox.has_room  # others are before whoever asks now
    peer.outbox.go_on()
    assert peer.started == [1, 2]


def test_what_a_producer_sends_makes_the_next_one_wait_again(peer: Peer) -> None:
    peer.outbox.send([LARGE], block=False)
    peer.wait(1)
    peer.wait(2)
    peer.read(len(LARGE))
    assert peer.has_started.acquire(timeout=PATIENCE_S)
    peer.outbox.send([LARGE], block=False)
    peer.outbox.go_on()
    assert peer.started == [1]
    peer.read(len(LARGE))
    assert peer.has_started.acquire(timeout=PATIENCE_S)
    assert peer.started == [1, 2]


def test_all_producers_go_on_when_the_peer_is_lost(peer: Peer) -> None:
    peer.outbox.send([LARGE], block=False)
    peer.wait(1)
    peer.wait(2)
    peer.end.close()
    assert peer.has_started.acquire(timeout=PATIENCE_S)
    assert peer.has_started.acquire(timeout=PATIENCE_S)
    assert not peer.wait(3)
    assert not peer.outbox.send([b"more"], block=False)


def test_all_producers_go_on_when_the_outbox_takes_no_more(peer: Peer) -> None:
    peer.outbox.send([LARGE], block=False)
    peer.wait(1)
    peer.outbox.finish([b"goodbye"])
    assert peer.started == [1]


def test_what_is_held_goes_out_with_the_next_message_and_before_it(peer: Peer) -> None:
    assert peer.outbox.hold([b"one"])
    assert peer.outbox.hold([b"two"])
    assert peer.outbox.is_holding
    peer.outbox.send([b"three", b"four"], block=False)
    assert not peer.outbox.is_holding
    assert peer.end.recv(100) == b"onetwothreefour"


def test_what_is_held_goes_out_alone_when_nothing_follows(peer: Peer) -> None:
    peer.outbox.hold([b"one"])
    peer.outbox.send((), block=False)
    assert peer.end.recv(100) == b"one"
    peer.outbox.send((), block=False)
    peer.outbox.send([b"two"], block=False)
    assert peer.end.recv(100) == b"two"


def test_what_is_held_waits_behind_what_is_queued(peer: Peer) -> None:
    peer.outbox.send([LARGE], block=False)
    peer.outbox.hold([b"one"])
    peer.outbox.send([b"two"], block=False)
    peer.read(len(LARGE))
    assert peer.end.recv(100, socket.MSG_WAITALL | socket.MSG_PEEK)[:3] == b"one"
    peer.read(len(b"onetwo"))


def test_what_is_held_goes_out_before_the_end(peer: Peer) -> None:
    peer.outbox.hold([b"one"])
    peer.outbox.finish([b"goodbye"])
    assert peer.end.recv(100, socket.MSG_WAITALL) == b"onegoodbye"
    assert not peer.outbox.hold([b"two"])
    assert not peer.outbox.is_holding


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToldWaits]:
    """What is told of waits, which is soon here."""
    tell_soon(monkeypatch)
    handler = ToldWaits()
    with handler.listening():
        yield handler


def test_who_waits_for_a_peer_that_takes_nothing_is_told(peer: Peer, told: ToldWaits, request: pytest.FixtureRequest) -> None:
    peer.outbox.send([LARGE], block=False)
    assert not told.came.wait(0.05)  # nobody waits yet
    sender = threading.Thread(target=lambda: peer.outbox.send([b"more"], block=True))
    sender.start()
    assert told.came.wait(PATIENCE_S)
    peer.read(len(LARGE) + len(b"more"))
    sender.join(PATIENCE_S)
    assert told.texts[0].startswith(
        f"Values wait to go to {request.node.name}, and what makes more of them waits too: it has taken nothing"
    )


def test_a_stage_that_waits_for_a_peer_that_takes_nothing_is_told(peer: Peer, told: ToldWaits) -> None:
    peer.outbox.send([LARGE], block=False)
    assert peer.wait(1)
    assert told.came.wait(PATIENCE_S)

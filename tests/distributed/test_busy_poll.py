"""A wait for a socket looks before it sleeps, where looking has been worth it."""

import socket
from collections.abc import Iterator

import pytest

from weft.distributed import busy_poll
from weft.distributed.busy_poll import BusyPoll

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    here, there = socket.socketpair()
    with here, there:
        yield here, there


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """One element for every look in vain."""
    found: list[None] = []
    monkeypatch.setattr(busy_poll, "_yield_core", lambda: found.append(None))
    return found


def test_a_message_that_is_there_needs_no_wait(pair: Pair, looks: list[None]) -> None:
    here, there = pair
    there.send(b"x")
    assert BusyPoll(here).wait(None)
    assert not looks


def test_a_wait_ends_after_its_time(pair: Pair) -> None:
    assert not BusyPoll(pair[0]).wait(0.001)


def test_the_end_of_the_stream_ends_a_wait(pair: Pair) -> None:
    here, there = pair
    there.shutdown(socket.SHUT_RDWR)
    assert BusyPoll(here).wait(None)


def test_a_message_that_comes_during_a_look_is_found_without_sleeping(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = pair
    waiting = BusyPoll(here)
    monkeypatch.setattr(busy_poll, "LIMIT_S", 10.0)
    monkeypatch.setattr(busy_poll, "_TAKEN_S", 10.0)
    for _ in range(3):
        monkeypatch.setattr(busy_poll, "_yield_core", lambda: there.send(b"x"))
        assert waiting.wait(None)
        here.recv(16)


def test_after_looks_in_vain_more_and_more_waits_sleep_at_once(pair: Pair, looks: list[None]) -> None:
    waiting = BusyPoll(pair[0])
    looked = []
    for _ in range(16):
        looks.clear()
        assert not waiting.wait(0)
        looked.append(bool(looks))
    assert [i for i, did in enumerate(looked) if did] == [0, 2, 6, 14]


def test_a_conversation_that_became_quick_is_looked_for_again(pair: Pair, looks: list[None]) -> None:
    here, there = pair
    waiting = BusyPoll(here)
    assert not waiting.wait(0)
    there.send(b"x")
    assert waiting.wait(None)
    assert waiting.wait(None)
    here.recv(16)
    looks.clear()
    assert not waiting.wait(0)
    assert looks


def test_who_loses_the_core_while_looking_sleeps(pair: Pair, looks: list[None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_poll, "LIMIT_S", 1e9)
    monkeypatch.setattr(busy_poll, "_TAKEN_S", -1.0)
    assert not BusyPoll(pair[0]).wait(0)
    assert len(looks) == 1


def test_without_a_way_to_offer_the_core_a_wait_is_a_sleep(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_poll, "_yield_core", None)
    here, there = pair
    assert not BusyPoll(here).wait(0)
    there.send(b"x")
    assert BusyPoll(here).wait(None)

"""A wait looks before it sleeps, where looking has been worth it."""

import pytest

from weft.channel.waiting import busy_poll
from weft.channel.waiting.busy_poll import Found
from weft.platform.waits.quick_lately import QuickLately

MESSAGE: Found = [(3, 1)]


class Silence:
    """A poll that finds nothing, and counts."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self, timeout_ms: int) -> Found:
        assert timeout_ms == 0
        self.looks += 1
        return []


def test_a_message_that_is_there_is_found() -> None:
    assert busy_poll.busy_poll(QuickLately(), lambda timeout_ms: MESSAGE) == MESSAGE


def test_a_message_that_comes_while_looking_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_poll, "LIMIT_S", 1e9)
    monkeypatch.setattr(busy_poll, "_TAKEN_S", 1e9)
    found: list[Found] = [MESSAGE, [], [], []]
    assert busy_poll.busy_poll(QuickLately(), lambda timeout_ms: found.pop()) == MESSAGE


def test_looking_ends_when_what_is_waited_for_has_come_otherwise() -> None:
    silence = Silence()
    assert busy_poll.busy_poll(QuickLately(), silence, lambda: True) == []
    assert silence.looks == 1


def test_after_looks_in_vain_more_and_more_waits_sleep_at_once() -> None:
    quick = QuickLately()
    looked = []
    for _ in range(16):
        silence = Silence()
        assert not busy_poll.busy_poll(quick, silence)
        looked.append(silence.looks > 0)
    assert [i for i, did in enumerate(looked) if did] == [0, 2, 6, 14]


def test_a_conversation_that_became_quick_is_looked_for_again() -> None:
    quick, silence = QuickLately(), Silence()
    busy_poll.busy_poll(quick, silence)
    assert not busy_poll.busy_poll(quick, lambda timeout_ms: MESSAGE)  # sleeps at once
    assert busy_poll.busy_poll(quick, lambda timeout_ms: MESSAGE)
    looks = silence.looks
    busy_poll.busy_poll(quick, silence)
    assert silence.looks > looks


def test_who_loses_the_core_while_looking_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_poll, "LIMIT_S", 1e9)
    monkeypatch.setattr(busy_poll, "_TAKEN_S", -1.0)
    silence = Silence()
    assert not busy_poll.busy_poll(QuickLately(), silence)
    assert silence.looks == 1


def test_without_a_way_to_offer_the_core_a_wait_is_a_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_poll, "_yield_core", None)
    silence = Silence()
    assert not busy_poll.busy_poll(QuickLately(), silence)
    assert silence.looks == 0

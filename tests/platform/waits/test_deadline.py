"""Deadlines: what is within one has so long and no longer, on its own thread."""

from __future__ import annotations

import threading

import pytest

from weft.errors import DeadlineExceededError
from weft.platform.waits.deadline import holding, left_s, within


def test_without_a_deadline_there_is_only_what_is_asked_for() -> None:
    assert left_s() is None
    assert left_s(3.0) == 3.0


def test_the_shorter_of_two_counts_and_ends_with_its_block() -> None:
    with within(100.0):
        with within(1000.0):
            assert 90.0 < (left_s() or 0.0) <= 100.0
        with within(10.0):
            assert 5.0 < (left_s() or 0.0) <= 10.0
        with within(None):
            assert 90.0 < (left_s() or 0.0) <= 100.0
        assert left_s(1.0) == 1.0
    assert left_s() is None


def test_one_that_has_passed_leaves_nothing() -> None:
    with within(0.0):
        assert left_s() == 0.0
        assert left_s(5.0) == 0.0


def test_another_thread_has_none() -> None:
    seen: list[float | None] = []
    with within(10.0):
        thread = threading.Thread(target=lambda: seen.append(left_s()))
        thread.start()
        thread.join()
    assert seen == [None]


def test_a_lock_is_waited_for_until_then() -> None:
    lock = threading.Lock()
    held = holding(lock, "the other")
    with lock, within(0.01), pytest.raises(DeadlineExceededError, match="Timed out waiting for the other"), held:
        raise AssertionError
    with holding(lock, "nobody"):
        assert lock.locked()
    assert not lock.locked()

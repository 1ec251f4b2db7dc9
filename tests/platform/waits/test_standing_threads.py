"""Threads that are blocked are told from those that go on, however rarely these do."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from weft.platform.waits import wait_notice
from weft.platform.waits.standing_threads import StandingThreads, places_of, threads_of_program

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux counts how often a thread has run")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_S", 0.05)


class _Threads:
    """Threads that end with the test: one that is blocked, one that sleeps between two looks."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.turns = threading.Semaphore(0)
        self.blocked = threading.Thread(target=lambda: self.over.wait(), name="blocked")
        self.sleeper = threading.Thread(target=self._sleep, name="sleeper")
        for each in (self.blocked, self.sleeper):
            each.start()

    def _sleep(self) -> None:
        while not self.over.is_set():
            self.turns.release()
            time.sleep(0.001)

    def goes_on(self) -> None:
        """Return when the sleeper has slept once more."""
        while self.turns.acquire(blocking=False):
            pass
        self.turns.acquire()
        self.turns.acquire()


@pytest.fixture
def threads() -> Iterator[_Threads]:
    made = _Threads()
    yield made
    made.over.set()
    made.blocked.join()
    made.sleeper.join()


def _looks_until_told(standing: StandingThreads, threads: list[threading.Thread]) -> bool:
    """Look until it is due to tell, as often as it takes on a busy machine."""
    end_s = time.monotonic() + 10
    while time.monotonic() < end_s:
        if standing.look(threads):
            return True
    return False


def test_a_thread_that_is_blocked_stands(threads: _Threads) -> None:
    standing = StandingThreads()
    assert _looks_until_told(standing, [threads.blocked])
    assert standing.stood_s >= 0.05


def test_a_thread_that_sleeps_between_two_looks_goes_on_and_so_do_all(threads: _Threads) -> None:
    standing = StandingThreads()
    begin_s = time.monotonic()
    while time.monotonic() < begin_s + 4 * wait_notice.FIRST_S:
        assert not standing.look([threads.blocked, threads.sleeper])
        threads.goes_on()


def test_threads_that_have_ended_do_not_count() -> None:
    ended = threading.Thread(target=lambda: None)
    ended.start()
    ended.join()
    assert _looks_until_told(StandingThreads(), [ended])


def test_the_place_is_the_programs_line(threads: _Threads) -> None:
    (place,) = places_of([threads.blocked])
    assert place.startswith("blocked at test_standing_threads.py:")
    assert {threads.blocked, threading.current_thread()} <= {*threads_of_program()}


@pytest.mark.parametrize("is_on", [True, False])
def test_no_collection_begins_while_frames_are_looked_at(is_on: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    during = []
    frames = sys._current_frames
    monkeypatch.setattr(sys, "_current_frames", lambda: during.append(gc.isenabled()) or frames())
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        threads_of_program()
        assert (during, gc.isenabled()) == ([False], is_on)
    finally:
        (gc.enable if was_on else gc.disable)()

"""Python that is done in turns leaves the interpreter to steps."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import pytest

from weft.runtime.xla import turns as turns_module
from weft.runtime.xla.turns import Turns


def work(calls: int) -> int:
    return 0 if calls == 0 else 1 + work(calls - 1)


def test_what_is_done_in_turns_is_done() -> None:
    turns = Turns()
    with turns.step(), turns.taken():
        assert work(50) == 50
    assert sys.gettrace() is None


def test_a_turn_begins_when_a_step_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns_module, "_LONGEST_WAIT_S", 60.0)
    turns = Turns()
    begun, done = threading.Event(), threading.Event()

    def take() -> None:
        with turns.taken():
            begun.set()
            work(1)
        done.set()

    thread = threading.Thread(target=take, daemon=True)
    with turns.step():
        thread.start()
        assert not done.is_set()
    # Each step that ends lets it work for a while.
    for _ in range(100_000):
        if done.is_set():
            break
        with turns.step():
            pass
    thread.join(60.0)
    assert begun.is_set()
    assert done.is_set()


def test_a_step_without_end_does_not_keep_it_for_ever() -> None:
    turns = Turns()
    with turns.step(), turns.taken():
        assert work(3) == 3


def test_a_turn_is_as_long_as_the_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s, waits = 0.0, 0

    def clock() -> float:
        nonlocal now_s
        now_s += 1e-4
        return now_s

    def wait(timeout: float) -> None:
        nonlocal now_s, waits
        now_s += 4e-3
        waits += 1
        with turns.step():
            pass  # a short one, after which alone a turn would be short

    monkeypatch.setattr(turns_module, "perf_counter", clock)
    turns = Turns()
    monkeypatch.setattr(turns, "_ended", SimpleNamespace(get=wait, put=lambda _: None))
    with turns.taken():
        work(400)
    assert 5 <= waits <= 15


def test_what_traces_the_thread_already_goes_on() -> None:
    seen: list[str] = []

    def debugger(frame: object, event: str, argument: object) -> None:
        seen.append(event)

    sys.settrace(debugger)
    try:
        with Turns().taken():
            work(2)
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
    assert len(seen) >= 3


def test_an_error_ends_the_turns() -> None:
    with pytest.raises(ZeroDivisionError), Turns().taken():
        work(-2 // 0)
    assert sys.gettrace() is None

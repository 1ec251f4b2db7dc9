"""Threads that would run are let run."""

from __future__ import annotations

import sys
import threading

import pytest

from weft.platform.process import runnable_threads
from weft.platform.process.runnable_threads import let_run


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how a thread is")
def test_a_thread_that_computes_is_let_run_until_it_waits() -> None:
    is_over, may_end, begun = threading.Event(), threading.Event(), threading.Event()

    def compute() -> None:
        begun.set()
        for number in range(3_000_000):
            _ = number * number
        is_over.set()
        may_end.wait(20)

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    try:
        assert begun.wait(20)
        let_run(20)
        assert is_over.is_set()
    finally:
        may_end.set()
        thread.join(20)


def test_it_ends_in_time_beside_one_that_never_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runnable_threads, "_is_runnable", lambda thread: True)
    may_end = threading.Event()
    other = threading.Thread(target=may_end.wait, args=(20,), daemon=True)
    other.start()
    try:
        let_run(0.01)
    finally:
        may_end.set()
        other.join(20)

"""A server answers as many requests at a time as there are, and its threads do not outlive the program."""

from __future__ import annotations

import threading

import pytest

from weft.distributed.rpc.threads import RpcThreads


def test_any_number_of_blocked_calls_leaves_room_for_one_more() -> None:
    threads = RpcThreads("test")
    release = threading.Event()
    blocked = [threads.submit(release.wait, 30) for _ in range(100)]
    assert threads.submit(lambda: "answered").result(timeout=30) == "answered"
    release.set()
    assert all(future.result(timeout=30) for future in blocked)


def test_the_threads_are_daemons() -> None:
    assert RpcThreads("test").submit(lambda: threading.current_thread().daemon).result(timeout=30)


def test_an_exception_is_the_result() -> None:
    def fail() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        RpcThreads("test").submit(fail).result(timeout=30)


def test_a_call_that_was_cancelled_does_not_break_the_pool() -> None:
    threads = RpcThreads("test")
    threads.submit(int).cancel()
    assert threads.submit(lambda: 1).result(timeout=30) == 1

"""The pool never lets a function wait for another, and keeps few threads."""

from __future__ import annotations

import os
import threading

from weft.runtime.inter_op_pool import InterOpPool

PATIENCE_S = 20.0


def test_functions_that_block_do_not_keep_others_from_running() -> None:
    pool, gate, done = InterOpPool(), threading.Event(), threading.Event()
    count = 20
    waiting = threading.Semaphore(0)

    def block() -> None:
        waiting.release()
        gate.wait(PATIENCE_S)

    for _ in range(count):
        pool.submit(block)
    for _ in range(count):
        assert waiting.acquire(timeout=PATIENCE_S)
    pool.submit(done.set)
    assert done.wait(PATIENCE_S)
    gate.set()


def test_an_idle_thread_is_used_again() -> None:
    pool, threads, done = InterOpPool(), set(), threading.Semaphore(0)

    def note() -> None:
        threads.add(threading.get_ident())
        done.release()

    for _ in range(50):
        pool.submit(note)
        assert done.acquire(timeout=PATIENCE_S)
    assert len(threads) < 10


def test_a_forked_child_gets_threads_of_its_own() -> None:
    pool, done = InterOpPool(), threading.Event()
    pool.submit(done.set)
    assert done.wait(PATIENCE_S)
    pool._pid = os.getpid() + 1  # as it is in a child
    again = threading.Event()
    pool.submit(again.set)
    assert again.wait(PATIENCE_S)

"""On which thread the stages of a step run that may block."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import weft as tf


def _thread_of_py_func() -> tuple[tf.Tensor, list[int]]:
    seen: list[int] = []

    def note() -> np.float32:
        seen.append(threading.get_ident())
        return np.float32(1)

    return tf.py_func(note, [], tf.float32), seen


def test_the_callers_thread_stays_free_for_interrupts_deadlines_and_the_sessions_end() -> None:
    with tf.Graph().as_default(), tf.Session() as session, ThreadPoolExecutor(1) as threads:
        value, seen = _thread_of_py_func()
        session.run(value)
        threads.submit(session.run, value).result(timeout=60)
        assert not {threading.get_ident(), threads.submit(threading.get_ident).result(timeout=60)} & set(seen)


def test_a_thread_that_a_dequeue_blocks_is_woken_by_the_end_of_the_session() -> None:
    with tf.Graph().as_default(), ThreadPoolExecutor(1) as threads:
        queue = tf.FIFOQueue(1, [tf.float32])
        taken = queue.dequeue()
        session = tf.Session()
        blocked = threads.submit(session.run, taken)
        with pytest.raises(TimeoutError):
            blocked.result(timeout=0.2)
        session.close()
        with pytest.raises((tf.errors.CancelledError, RuntimeError)):
            blocked.result(timeout=60)


def test_an_enqueue_wakes_the_thread_that_a_dequeue_blocks() -> None:
    with tf.Graph().as_default(), tf.Session() as session, ThreadPoolExecutor(1) as threads:
        queue = tf.FIFOQueue(1, [tf.float32])
        taken = threads.submit(session.run, queue.dequeue())
        session.run(queue.enqueue(3.0))
        assert taken.result(timeout=60) == 3

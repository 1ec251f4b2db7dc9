"""Where steps wait for their code, one of them makes it, and each of the others waits until its own deadline at most."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.choice.compile_rules import COLD_RUNS
from weft.runtime.compiled.engine import CompiledStage
from weft.runtime.state.session_state import DETERMINISM_VARIABLE

LIMIT_S = 60
SHORT = tf.RunOptions(timeout_in_ms=50)


class Gate:
    """Holds compilations up, and counts them."""

    def __init__(self) -> None:
        self.is_open = threading.Event()
        self.begun = threading.Semaphore(0)
        self.count = 0


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    monkeypatch.setenv(DETERMINISM_VARIABLE, "1")
    gate, prepare = Gate(), CompiledStage.prepare

    def gated(self: CompiledStage, *arguments: Any, **options: Any) -> None:
        gate.count += 1
        gate.begun.release()
        assert gate.is_open.wait(LIMIT_S)
        prepare(self, *arguments, **options)

    monkeypatch.setattr(CompiledStage, "prepare", gated)
    yield gate
    gate.is_open.set()


def counting(session: tf.Session) -> tuple[Any, Any, Any]:
    """A step that counts its runs in a variable, cold by one run."""
    x = tf.placeholder(tf.float32, [4])
    count = tf.get_variable("count", [], initializer=tf.zeros_initializer(), use_resource=True)
    y = x
    for _ in range(20):
        y = tf.tanh(y)
    step = count.assign_add(tf.reduce_sum(y) + 1.0)
    session.run(tf.global_variables_initializer())
    for _ in range(COLD_RUNS):
        session.run(step, {x: np.zeros(4)})
    return step, {x: np.zeros(4)}, count


def test_steps_whose_deadlines_pass_meanwhile_end_then_and_the_code_is_made_once(gate: Gate) -> None:
    with tf.Session() as session:
        step, feed, count = counting(session)
        for _ in range(3):
            begin_s = time.monotonic()
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(step, feed, options=SHORT)
            assert time.monotonic() - begin_s < LIMIT_S / 4
        gate.is_open.set()
        session.run(step, feed)
        # What had ended has updated nothing.
        assert session.run(count) == COLD_RUNS + 1
    assert gate.count == 1


def test_steps_that_wait_for_the_same_code_all_run(gate: Gate) -> None:
    with tf.Session() as session:
        step, feed, count = counting(session)
        threads = [threading.Thread(target=session.run, args=(step, feed)) for _ in range(4)]
        for thread in threads:
            thread.start()
        assert gate.begun.acquire(timeout=LIMIT_S)
        gate.is_open.set()
        for thread in threads:
            thread.join(LIMIT_S)
        assert session.run(count) == COLD_RUNS + 4
    assert gate.count == 1


def test_a_further_size_is_made_once_too(gate: Gate) -> None:
    gate.is_open.set()
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(tf.tanh(x))
        for _ in range(COLD_RUNS + 1):
            session.run(y, {x: np.zeros(4)})
        gate.is_open.clear()
        found: list[Any] = []
        threads = [threading.Thread(target=lambda: found.append(session.run(y, {x: np.zeros(5)}))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            assert gate.begun.acquire(timeout=LIMIT_S)
        gate.is_open.set()
        for thread in threads:
            thread.join(LIMIT_S)
        assert found == [0.0, 0.0, 0.0]
    assert gate.count == 2


def test_what_cannot_be_compiled_says_so_in_each_step(gate: Gate) -> None:
    gate.is_open.set()
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.tanh(tf.reshape(x, [2, 2]))
        for _ in range(COLD_RUNS + 1):
            session.run(y, {x: np.zeros(4)})
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(y, {x: np.zeros(5)})
        assert session.run(y, {x: np.zeros(4)}).shape == (2, 2)

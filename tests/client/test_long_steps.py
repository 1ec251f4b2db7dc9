"""Who waits for a step that computes for long, without a loop, is let go by Ctrl-C and by a deadline."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.client.test_giving_up import ctrl_c
from weft.runtime.ways import run_times

SIZE = 500
RUN_COMPILED, RUN_ON_HOST = tf.OptimizerOptions.ON_1, tf.OptimizerOptions.OFF


class Chain:
    """Products of matrices, one after the other, that take half a second or so, of which a variable counts the runs."""

    def __init__(self) -> None:
        self.fed = tf.placeholder(tf.float32, [SIZE, SIZE])
        self.count = tf.Variable(0.0)
        half = tf.Variable(tf.fill([SIZE, SIZE], 1.0 / SIZE))
        value = self.fed
        for _ in range(60):
            value = tf.matmul(value, half)
        # One for each run.
        self.result = tf.reduce_mean(value)
        self.update = tf.assign_add(self.count, self.result)
        self.initializer = tf.global_variables_initializer()

    def run(self, session: tf.Session, fetch: Any, **arguments: Any) -> float:
        return float(session.run(fetch, {self.fed: np.full([SIZE, SIZE], 1.0, np.float32)}, **arguments))


def session_of(level: Any) -> tf.Session:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    return tf.Session(config=config)


@pytest.mark.parametrize("level", [RUN_COMPILED, RUN_ON_HOST])
def test_ctrl_c_and_a_deadline_let_go_of_a_long_computation(level: Any) -> None:
    with tf.Graph().as_default(), session_of(level) as session:
        chain = Chain()
        session.run(chain.initializer)
        assert chain.run(session, chain.result) == pytest.approx(1.0, rel=1e-3)
        begin_s = time.monotonic()
        chain.run(session, chain.result)
        whole_s = time.monotonic() - begin_s
        pressed = threading.Event()
        pressed.set()

        def time_until_let_go_s() -> float:
            begin_s = time.monotonic()
            with ctrl_c(pressed, whole_s / 20), pytest.raises(KeyboardInterrupt):
                chain.run(session, chain.result)
            return time.monotonic() - begin_s

        # A machine that does other work may be late at times, never each time.
        assert any(time_until_let_go_s() < max(whole_s * 0.7, 0.2) for _ in range(10))
        with pytest.raises(tf.errors.DeadlineExceededError):
            chain.run(session, chain.result, options=tf.RunOptions(timeout_in_ms=max(int(whole_s * 50), 1)))
        assert chain.run(session, chain.result) == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("level", [RUN_COMPILED, RUN_ON_HOST])
def test_an_update_that_has_begun_is_finished_whole(level: Any) -> None:
    with tf.Graph().as_default(), session_of(level) as session:
        chain = Chain()
        session.run(chain.initializer)
        chain.run(session, chain.update)
        with pytest.raises(tf.errors.DeadlineExceededError):
            chain.run(session, chain.update, options=tf.RunOptions(timeout_in_ms=1))
        chain.run(session, chain.update)
        counted = float(session.run(chain.count))
        assert min(abs(counted - 2.0), abs(counted - 3.0)) < 0.01, "the one that was given up counts once, or not"


def test_short_steps_stay_on_their_callers_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    # The machine of a test run may be busy.
    monkeypatch.setattr(run_times, "_LONG_S", 10.0)
    with tf.Graph().as_default(), tf.Session() as session:
        value = tf.placeholder(tf.float32, [8])
        total = tf.reduce_sum(value * 2.0)
        before = set(threading.enumerate())
        for _ in range(20):
            session.run(total, {value: np.ones(8)})
        # Code is made meanwhile, and the thread that tells of long waits looks at that.
        new = set(threading.enumerate()) - before
        assert not [each for each in new if each.name.startswith("weft") and each.name != "weft-wait-watch"]


def _duration_s(step: Callable[[], object]) -> float:
    begin_s = time.monotonic()
    with contextlib.suppress(tf.errors.DeadlineExceededError):
        step()
    return time.monotonic() - begin_s


def test_the_deadline_holds_for_a_step_that_compiles_many_small_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_DETERMINISTIC_OPS", raising=False)
    x = tf.placeholder(tf.float32, [4, 4])
    y = x
    for _ in range(120):
        y = tf.tanh(tf.matmul(y, x)) + tf.nn.softmax(y)
    feeds = {x: np.ones((4, 4))}
    with tf.Session() as session:
        deadline = tf.RunOptions(timeout_in_ms=50)
        longest_s = max(_duration_s(lambda: session.run(y, feeds, deadline)) for _ in range(12))
    at_once = tf.ConfigProto()
    at_once.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    with tf.Session(config=at_once) as session:
        compiling_s = _duration_s(lambda: session.run(y, feeds))
    assert longest_s < compiling_s

"""Waiting for what XLA computes, while other steps go on."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.compiled.waiting import wait_for_updates


class _Value:
    """A value of JAX's that a later execution may have taken."""

    def __init__(self, is_taken: bool = False, fails: bool = False) -> None:
        self.is_taken, self.fails, self.waits = is_taken, fails, 0

    def is_deleted(self) -> bool:
        return self.is_taken

    def block_until_ready(self) -> None:
        self.waits += 1
        if self.is_taken or self.fails:
            raise RuntimeError("INVALID_ARGUMENT: BlockHostUntilReady() called on deleted or donated buffer")


def test_values_that_a_later_step_took_are_waited_for_by_its_own() -> None:
    slots: Any = [SimpleNamespace(value=_Value()), SimpleNamespace(value=np.ones(2))]
    wait_for_updates([_Value(is_taken=True)], slots)
    assert slots[0].value.waits == 1
    slots[0].value = np.zeros(2)  # the later step ran on the host
    wait_for_updates([_Value(is_taken=True)], slots)


def test_what_went_wrong_in_a_step_is_told() -> None:
    with pytest.raises(RuntimeError, match="INVALID_ARGUMENT"):
        wait_for_updates([_Value(fails=True)], [])


@pytest.mark.timeout(120)
def test_threads_train_one_model_by_steps_that_fetch_nothing() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 32])
        step = tf.train.get_or_create_global_step()
        sums = tf.math.cumulative_logsumexp(tf.layers.dense(x, 32, tf.nn.relu))
        train = tf.train.AdamOptimizer().minimize(tf.reduce_mean(sums), step)
        session.run(tf.global_variables_initializer())
        failures: list[Exception] = []

        def work() -> None:
            try:
                for _ in range(150):
                    session.run(train, {x: np.ones([16, 32])})
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert session.run(step) == 450

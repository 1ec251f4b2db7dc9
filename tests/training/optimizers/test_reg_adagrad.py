"""RegAdagrad: the gradients of a regularizer are divided by the sums of the loss's gradients and not counted in them."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("use_resource", [False, True])
def test_updates_in_the_block_use_the_sums_and_leave_them(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=np.array([1.0, 2.0], np.float32), use_resource=use_resource)
        optimizer = tf.contrib.opt.RegAdagradOptimizer(0.5)
        train = optimizer.minimize(tf.reduce_sum(3.0 * x))
        with optimizer.avoid_updating_slots():
            shrink = optimizer.minimize(tf.reduce_sum(tf.square(x)))
        sums = optimizer.get_slot(x, "accumulator")
        session.run(tf.global_variables_initializer())
        session.run(train)
        value = np.array([1, 2]) - 0.5 * 3 / np.sqrt(9.1)
        np.testing.assert_allclose(session.run(x), value, rtol=1e-6)
        session.run(shrink)
        np.testing.assert_allclose(session.run(x), value - 0.5 * 2 * value / np.sqrt(9.1), rtol=1e-6)
        np.testing.assert_allclose(session.run(sums), [9.1, 9.1], rtol=1e-6)


def test_rows_that_are_looked_up_are_updated_alone() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", initializer=np.ones([3, 1], np.float32))
        optimizer = tf.contrib.opt.RegAdagradOptimizer(1.0)
        with optimizer.avoid_updating_slots():
            step = optimizer.minimize(tf.reduce_sum(tf.gather(table, [1])))
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(table), [[1], [1 - 1 / np.sqrt(0.1)], [1]], rtol=1e-6)
        np.testing.assert_allclose(session.run(optimizer.get_slot(table, "accumulator")), np.full((3, 1), 0.1), rtol=1e-6)

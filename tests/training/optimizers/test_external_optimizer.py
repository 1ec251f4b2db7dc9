"""Optimizers outside of the graph find the minimum that the constraints leave, and say what they cannot do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _problem() -> tuple[tf.Variable, tf.Tensor]:
    vector = tf.get_variable("vector", initializer=np.array([7.0, 7.0], np.float32))
    return vector, tf.reduce_sum(tf.square(vector))


def test_scipy_finds_the_minimum_and_assigns_it() -> None:
    vector, loss = _problem()
    seen: list[float] = []
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, options={"maxiter": 100})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        optimizer.minimize(session, fetches=[loss], loss_callback=seen.append)
        np.testing.assert_allclose(session.run(vector), [0, 0], atol=1e-4)
    assert seen[0] == 98
    assert seen[-1] < 1e-6


def test_bounds_and_constraints_hold() -> None:
    vector, loss = _problem()
    bounded = tf.contrib.opt.ScipyOptimizerInterface(loss, var_to_bounds={vector: ([1, 2], np.inf)})
    constrained = tf.contrib.opt.ScipyOptimizerInterface(
        loss, equalities=[vector[1] - 1.0], inequalities=[vector[0] - 1.0], method="SLSQP"
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        bounded.minimize(session)
        np.testing.assert_allclose(session.run(vector), [1, 2], atol=1e-4)
        session.run(tf.global_variables_initializer())
        constrained.minimize(session)
        np.testing.assert_allclose(session.run(vector), [1, 1], atol=1e-4)


def test_several_variables_are_one_vector_and_feeds_reach_the_loss() -> None:
    a = tf.get_variable("a", initializer=np.float32(3))
    b = tf.get_variable("b", initializer=np.ones((2, 2), np.float32))
    target = tf.placeholder(tf.float32, [])
    loss = tf.square(a - target) + tf.reduce_sum(tf.square(b - target))
    steps: list[int] = []
    optimizer = tf.contrib.opt.ScipyOptimizerInterface(loss, var_list=[a, b])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with session.as_default():
            optimizer.minimize(feed_dict={target: 5.0}, step_callback=lambda vector: steps.append(vector.size))
        assert session.run(a) == pytest.approx(5, abs=1e-3)
        np.testing.assert_allclose(session.run(b), np.full((2, 2), 5.0), atol=1e-3)
    assert steps
    assert set(steps) == {5}


def test_what_is_set_by_the_interface_cannot_be_given() -> None:
    _, loss = _problem()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="var_to_bounds"):
            tf.contrib.opt.ScipyOptimizerInterface(loss, bounds=[(0, 1)]).minimize(session)
        with pytest.raises(ValueError, match="'jac' is set automatically"):
            tf.contrib.opt.ScipyOptimizerInterface(loss, jac=False).minimize(session)
        with pytest.raises(NotImplementedError, match="subclass from it"):
            tf.contrib.opt.ExternalOptimizerInterface(loss).minimize(session)

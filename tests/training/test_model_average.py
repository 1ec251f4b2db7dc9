"""Optimizers of tf.contrib.opt: averaging workers on servers, and what the others refuse."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import weft as tf

_LIMIT_S = 60


@pytest.fixture
def target() -> str:
    return tf.train.Server.create_local_server().target


def _averaging_worker(target: str, number: int, steps: int) -> list[np.ndarray]:
    with tf.Graph().as_default():
        getter = tf.contrib.opt.ModelAverageCustomGetter(worker_device="/cpu:0")
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("", custom_getter=getter), tf.variable_scope(f"worker{number}"):
            own = tf.get_variable("w", initializer=[float(number)])
        # All workers share the center, as they do on parameter servers.
        getter.centers[own] = tf.get_variable("center", initializer=[0.0], trainable=False)
        with tf.variable_scope(f"worker{number}"):
            optimizer = tf.contrib.opt.ModelAverageOptimizer(
                tf.train.GradientDescentOptimizer(0.5), 2, number == 0, getter, interval_steps=steps
            )
        # Each step takes worker 0 down by a half, worker 1 by one and a half.
        train = optimizer.minimize(tf.reduce_sum(own) * (1.0 + 2.0 * number), step)
        hook = optimizer.make_session_run_hook()
        hook.begin()
        with tf.Session(target, timeout=_LIMIT_S) as session:
            session.run(tf.variables_initializer([*tf.local_variables(), getter.centers[own], step]))
            hook.after_create_session(session, tf.train.Coordinator())
            for _ in range(steps):
                session.run(train)
            return session.run([own, getter.centers[own], step])


def test_two_workers_take_up_the_mean_of_their_copies(target: str) -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda number: _averaging_worker(target, number, 3), range(2)))
    # Both began at the center's 0: the mean of -1.5 and -4.5.
    for own, center, step in found:
        np.testing.assert_allclose(own, [-3.0])
        np.testing.assert_allclose(center, [-3.0])
        assert step == 1


def test_a_variable_that_the_getter_did_not_make_is_refused() -> None:
    variable = tf.get_variable("w", initializer=[1.0])
    getter = tf.contrib.opt.AGNCustomGetter(worker_device="/cpu:0")
    optimizer = tf.contrib.opt.AGNOptimizer(tf.train.GradientDescentOptimizer(0.5), 1, getter)
    with pytest.raises(ValueError, match=r"'w:0' has no common variable: make the model's variables by tf.get_variable"):
        optimizer.minimize(tf.reduce_sum(variable))
    with pytest.raises(ValueError, match=r"'w:0' has no common variable"):
        optimizer.get_init_op(0)


def test_shampoo_says_what_it_cannot_train() -> None:
    scalar = tf.Variable(1.0, name="scalar")
    with pytest.raises(ValueError, match=r"'scalar:0' must have a rank of at least 1 .* its shape is \(\)"):
        tf.contrib.opt.ShampooOptimizer().minimize(scalar * scalar)
    rows = tf.Variable(tf.ones([3, 2]), name="rows")
    optimizer = tf.contrib.opt.ShampooOptimizer(max_matrix_size=1, mat_gbar_decay=0.5)
    with pytest.raises(ValueError, match=r"rows of 'rows:0' alone .* mat_gbar_decay=1.0, got 0.5"):
        optimizer.minimize(tf.reduce_sum(tf.gather(rows, [1])))


def test_roots_by_iteration_want_a_unit_fraction() -> None:
    vector = tf.Variable([1.0, 2.0])
    optimizer = tf.contrib.opt.ShampooOptimizer(use_iterative_root=True, alpha=0.3)
    with pytest.raises(ValueError, match=r"must be -1/p for a positive whole p, got -0.6"):
        optimizer.minimize(tf.reduce_sum(vector * vector))


def test_ggt_refuses_a_sparse_gradient() -> None:
    rows = tf.Variable(tf.ones([3, 2]), name="rows")
    with pytest.raises(NotImplementedError, match=r"Sparse gradient updates are not supported.*'rows:0'"):
        tf.contrib.opt.GGTOptimizer().minimize(tf.reduce_sum(tf.gather(rows, [1])))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        # One worker: its own mean, its own mean gradient (two of 1 by a rate of 0.5), and elastic by 0.9 / 2.
        ("ModelAverage", [[0.0], [0.0]]),
        ("AGN", [[0.5], [0.5]]),
        ("ElasticAverage", [[0.45], [0.55]]),
    ],
)
def test_copies_are_a_workers_and_the_common_values_a_parameter_servers(names: str, expected: list[list[float]]) -> None:
    workers, servers = tf.test.create_local_cluster(1, 1)
    getter = getattr(tf.contrib.opt, f"{names}CustomGetter")(worker_device="/job:worker/task:0")
    inner = tf.train.GradientDescentOptimizer(0.5)
    with tf.device("/job:ps/task:0"):
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("", custom_getter=getter):
            own = tf.get_variable("w", initializer=[1.0])
        if names == "ModelAverage":
            optimizer = tf.contrib.opt.ModelAverageOptimizer(inner, 1, True, getter, interval_steps=2)
        elif names == "AGN":
            optimizer = tf.contrib.opt.AGNOptimizer(inner, 1, getter, communication_period=2)
        else:
            optimizer = tf.contrib.opt.ElasticAverageOptimizer(inner, 1, getter, communication_period=2, rho=0.0)
        train = optimizer.minimize(tf.reduce_sum(own), step)
        init = optimizer.get_init_op() if names == "ModelAverage" else optimizer.get_init_op(0)
    assert [own.device, *(each.device for each in tf.global_variables())] == [
        "/job:worker/task:0",
        *["/job:ps/task:0"] * len(tf.global_variables()),
    ]
    with tf.Session(workers[0].target, timeout=_LIMIT_S) as session:
        session.run(tf.local_variables_initializer())
        session.run(tf.global_variables_initializer())
        session.run(init)
        session.run(train)
        assert [each.tolist() for each in session.run([own, "global_center_variable/w:0"])] == [[0.5], [1.0]]
        session.run(train)
        found = session.run([own, "global_center_variable/w:0", step])
    np.testing.assert_allclose(found[:2], expected)
    assert found[2] == 1
    del servers

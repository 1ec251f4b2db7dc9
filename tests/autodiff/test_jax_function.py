"""A JAX function as an op: its value, its gradient, sizes that are not known, and its way to a server."""

from __future__ import annotations

import numpy as np
import pytest
from jax import numpy as jnp

import weft as tf

pytest.importorskip("flatbuffers", reason="JAX writes exported functions with flatbuffers: install weft[optax]")


def test_a_jax_function_has_jaxs_value_and_gradient_for_any_batch() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2])
        w = tf.Variable([[1.0], [2.0]], use_resource=True)
        made = tf.jax_function(lambda a, b: jnp.tanh(a @ b))(x, w)
        assert made.shape.as_list() == [None, 1]
        gradient = tf.gradients(made, [w])[0]
        session.run(w.initializer)
        for count in (1, 3):
            value = np.random.RandomState(count).rand(count, 2).astype(np.float32)
            found, pulled = session.run([made, gradient], {x: value})
            expected = np.tanh(value @ [[1.0], [2.0]])
            np.testing.assert_allclose(found, expected, rtol=1e-5)
            np.testing.assert_allclose(pulled, value.T @ (1 - expected**2), rtol=1e-4)


def test_arguments_and_results_may_be_nested_and_integers_have_no_gradient() -> None:
    def look_up(params, rows):
        return {"picked": params["table"][rows], "sum": params["table"].sum()}

    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        rows = tf.constant([2, 0])
        made = tf.jax_function(look_up)({"table": table}, rows)
        gradients = tf.gradients(made["picked"], [table, rows])
        assert gradients[1] is None
        picked, total, pulled = session.run([made["picked"], made["sum"], gradients[0]])
    np.testing.assert_array_equal(picked, [[5.0, 6.0], [1.0, 2.0]])
    assert total == 21.0
    np.testing.assert_array_equal(pulled, [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]])


def test_a_server_in_another_process_trains_a_jax_function() -> None:
    with tf.LocalCluster({"ps": 1, "worker": 1}) as cluster, tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(ps_tasks=1)):
            w = tf.get_variable("w", [2, 1], initializer=tf.zeros_initializer())
            x = tf.placeholder(tf.float32, [None, 2])
            loss = tf.reduce_mean(tf.jax_function(lambda a, b: jnp.square(a @ b - a.sum(1, keepdims=True)))(x, w))
            train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        with tf.Session(cluster.target("worker", 0)) as session:
            session.run(tf.global_variables_initializer())
            value = np.random.RandomState(0).rand(16, 2).astype(np.float32)
            for _ in range(100):
                session.run(train, {x: value})
            np.testing.assert_allclose(session.run(w), [[1.0], [1.0]], atol=0.05)

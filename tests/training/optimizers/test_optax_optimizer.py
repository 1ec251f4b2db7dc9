"""optax transformations as optimizers, against optax itself."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import weft as tf

optax = pytest.importorskip("optax")
pytest.importorskip("flatbuffers")

TRANSFORMATIONS: dict[str, Any] = {
    "sgd": lambda: optax.sgd(0.1),
    "momentum": lambda: optax.sgd(0.1, momentum=0.9, nesterov=True),
    "adam": lambda: optax.adam(0.05),
    "adamw": lambda: optax.adamw(0.05, weight_decay=0.1),
    "clipped": lambda: optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.05)),
    "lion": lambda: optax.lion(0.01),
    "lamb": lambda: optax.lamb(0.01),
    "adafactor": lambda: optax.adafactor(0.05),
    "schedule": lambda: optax.adam(optax.exponential_decay(0.1, 2, 0.5)),
    "injected": lambda: optax.inject_hyperparams(optax.sgd)(learning_rate=0.1),
    "averaged": lambda: optax.chain(optax.sgd(0.1), optax.ema(0.9)),
}
START = {"w": np.array([[1.0, -2.0], [3.0, 0.5]], np.float32), "b": np.array([0.5, -0.5], np.float32)}
STEPS = 7


def gradients(step: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(step)
    return {name: rng.normal(size=value.shape).astype(np.float32) for name, value in START.items()}


def by_optax(transformation: Any) -> dict[str, np.ndarray]:
    params = {name: jnp.asarray(value) for name, value in START.items()}
    state = transformation.init(params)
    for step in range(STEPS):
        updates, state = transformation.update(gradients(step), state, params)
        params = optax.apply_updates(params, updates)
    return {name: np.asarray(value) for name, value in params.items()}


def trained(optimizer: Any, use_resource: bool = False) -> dict[str, np.ndarray]:
    variables = {name: tf.Variable(value, name=name, use_resource=use_resource) for name, value in START.items()}
    fed = {name: tf.placeholder(tf.float32, value.shape) for name, value in START.items()}
    train = optimizer.apply_gradients([(fed[name], variables[name]) for name in START])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(STEPS):
            values = gradients(step)
            session.run(train, {fed[name]: values[name] for name in START})
        return session.run(variables)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_updates_are_those_of_optax(name):
    found = trained(tf.train.OptaxOptimizer(TRANSFORMATIONS[name]()))
    for key, value in by_optax(TRANSFORMATIONS[name]()).items():
        np.testing.assert_allclose(found[key], value, rtol=2e-5, atol=1e-6)


def test_resource_variables_are_trained():
    found = trained(tf.train.OptaxOptimizer(optax.adam(0.05)), use_resource=True)
    np.testing.assert_allclose(found["w"], by_optax(optax.adam(0.05))["w"], rtol=2e-5)


def test_the_state_is_in_slots_and_variables_of_the_optimizer():
    optimizer = tf.train.OptaxOptimizer(optax.adam(0.05))
    with tf.get_default_graph().device("/job:ps"):
        v = tf.Variable([1.0], name="v")
    train = optimizer.minimize(v * 1.0)
    assert train.name == "Optax"
    assert optimizer.get_slot_names() == ["mu", "nu"]
    assert optimizer.get_slot(v, "mu").op.name == "v/Optax/mu"
    assert [each.op.name for each in optimizer.variables()] == ["Optax/count", "v/Optax/mu", "v/Optax/nu"]
    assert {each.device for each in optimizer.variables()} == {"/job:ps"}
    assert all(each in tf.global_variables() and each not in tf.trainable_variables() for each in optimizer.variables())


def test_two_parts_of_a_chain_have_slots_of_their_own():
    optimizer = tf.train.OptaxOptimizer(optax.chain(optax.trace(0.9), optax.trace(0.8), optax.scale(-0.1)))
    optimizer.minimize(tf.Variable([1.0]) * 1.0)
    assert optimizer.get_slot_names() == ["trace", "trace_1"]


def test_minimize_counts_the_global_step_and_makes_slices_dense():
    table = tf.Variable(np.ones((4, 2), np.float32))
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_sum(tf.gather(table, [1, 1, 3]))
    train = tf.train.OptaxOptimizer(optax.sgd(0.5)).minimize(loss, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(step) == 1
        assert session.run(table)[:, 0].tolist() == [1.0, 0.0, 1.0, 0.5]


def test_state_may_start_from_the_variables():
    optimizer = tf.train.OptaxOptimizer(optax.chain(optax.sgd(0.1), optax.contrib.schedule_free_sgd(0.1)))
    v = tf.Variable([2.0])
    optimizer.minimize(v * 1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = [session.run(optimizer.get_slot(v, name)).tolist() for name in optimizer.get_slot_names()]
    assert [2.0] in values


def test_double_precision():
    v = tf.Variable(np.array([1.0, 2.0]), dtype=tf.float64)
    train = tf.train.OptaxOptimizer(optax.adam(0.1)).minimize(tf.reduce_sum(v * v))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(v), [0.9, 1.9], rtol=1e-7)


def test_a_graph_with_it_can_be_written_and_read():
    v = tf.Variable([2.0], name="v")
    init = tf.global_variables_initializer
    tf.train.OptaxOptimizer(optax.adam(0.1)).minimize(v * v, name="train")
    first = init()
    text = tf.get_default_graph().as_graph_def().SerializeToString()
    tf.reset_default_graph()
    tf.import_graph_def(tf.GraphDef.FromString(text), name="")
    with tf.Session() as session:
        session.run(first.name)
        session.run("train")
        assert session.run("v:0") == pytest.approx(1.9, rel=1e-5)


def test_shapes_must_be_known():
    v = tf.Variable([1.0], validate_shape=False)
    with pytest.raises(ValueError, match="the shape must be fully known here"):
        tf.train.OptaxOptimizer(optax.sgd(0.1)).minimize(tf.reduce_sum(v))

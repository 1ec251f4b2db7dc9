"""Updates that are made together leave every variable as if each had been made by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.host import joint_updates
from weft.runtime.host.joint_updates import JointUpdate

SHAPES = [[3], [3], [2, 2], [], [], [1, 5], [3]] * 3

OPTIMIZERS: list[Callable[[], Any]] = [
    lambda: tf.train.GradientDescentOptimizer(0.1),
    lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    lambda: tf.train.AdagradOptimizer(0.1),
    lambda: tf.train.AdamOptimizer(0.1),
    lambda: tf.train.RMSPropOptimizer(0.1, centered=True),
    lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    lambda: tf.train.AdadeltaOptimizer(0.5),
]


def _train(make: Callable[[], Any], count: int, steps: int, use_resource: bool) -> tuple[list[Any], list[bool]]:
    """Train so many of the variables; return them and their slots, and whether each joint update could be made as one."""
    with tf.Graph().as_default():
        random = np.random.RandomState(1)
        initial = [random.standard_normal(shape).astype(np.float32) for shape in SHAPES]
        gradients = [random.standard_normal([steps, *shape]).astype(np.float32) for shape in SHAPES]
        held = [
            tf.get_variable(f"v{place}", initializer=each, use_resource=use_resource)
            for place, each in enumerate(initial[:count])
        ]
        fed = [tf.placeholder(tf.float32, each.shape) for each in held]
        step = make().apply_gradients(zip(fed, held, strict=True))
        made: list[bool] = []
        run = JointUpdate.run_joined
        with pytest.MonkeyPatch.context() as patch, tf.Session() as session:
            patch.setattr(JointUpdate, "run_joined", lambda *arguments: made.append(run(*arguments)) or made[-1])
            session.run(tf.global_variables_initializer())
            for number in range(steps):
                session.run(step, {place: each[number] for place, each in zip(fed, gradients, strict=False)})
            kept = {each.op.name: each for each in tf.global_variables()}
            return session.run({name: each for name, each in kept.items() if name.startswith("v")}), made


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("make", OPTIMIZERS)
def test_joint_updates_make_what_single_ones_make(
    make: Callable[[], Any], use_resource: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, made = _train(make, len(SHAPES), 3, use_resource)
    assert made == [True] * 3
    few = 7
    monkeypatch.setattr(joint_updates, "_LEAST", few + 1)
    alone, made_alone = _train(make, few, 3, use_resource)
    assert made_alone == []
    for name, value in alone.items():
        assert together[name].shape == value.shape
        np.testing.assert_allclose(together[name], value, rtol=2e-6, atol=1e-7, err_msg=name)


def _variables(count: int = 20) -> tuple[list[Any], list[Any], Any]:
    held = [tf.get_variable(f"v{i}", initializer=tf.fill([2], float(i))) for i in range(count)]
    fed = [tf.placeholder(tf.float32, [2]) for _ in held]
    return held, fed, tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(fed, held, strict=True))


def _same(fed: list[Any], value: list[float]) -> dict[Any, Any]:
    return dict.fromkeys(fed, value)


def test_a_variable_without_a_value_is_named(graph: tf.Graph) -> None:
    held, fed, step = _variables()
    with tf.Session() as session:
        session.run([each.initializer for each in held[:-1]])
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v19"):
            session.run(step, _same(fed, [1.0, 1.0]))


def test_a_variable_that_was_given_another_shape_is_refused_by_itself(graph: tf.Graph) -> None:
    held, fed, step = _variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, _same(fed, [1.0, 1.0]))
        session.run(tf.assign(held[3], [[5.0, 5.0]], validate_shape=False))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"var and delta do not have the same shape\[1,2\] \[2\]"):
            session.run(step, _same(fed, [1.0, 1.0]))
        np.testing.assert_array_equal(session.run(held[3]), [[5.0, 5.0]])


def test_a_variable_that_is_updated_twice_gets_both(graph: tf.Graph) -> None:
    held, fed, step = _variables()
    again = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(gradient, held[0]) for gradient in fed])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.group(step, again), _same(fed, [1.0, 2.0]))
        np.testing.assert_array_equal(session.run(held[0]), [-21.0, -42.0])
        np.testing.assert_array_equal(session.run(held[1]), [0.0, -1.0])


def test_a_fetched_value_does_not_change_with_the_next_step(graph: tf.Graph) -> None:
    held, fed, step = _variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, _same(fed, [1.0, 1.0]))
        before = session.run(held)
        before[0][:] = 100.0
        session.run(step, _same(fed, [1.0, 1.0]))
        np.testing.assert_array_equal(before[5], [4.0, 4.0])
        np.testing.assert_array_equal(session.run(held[0]), [-2.0, -2.0])


def test_hyperparameters_that_differ_are_kept_apart(graph: tf.Graph) -> None:
    held = [tf.get_variable(f"v{i}", initializer=[0.0]) for i in range(20)]
    fed = [tf.placeholder(tf.float32, [1]) for _ in held]
    slow = tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(fed[:10], held[:10], strict=True))
    fast = tf.train.GradientDescentOptimizer(10.0).apply_gradients(zip(fed[10:], held[10:], strict=True))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([slow, fast], _same(fed, [1.0]))
        assert [float(value[0]) for value in session.run(held)] == [-1.0] * 10 + [-10.0] * 10

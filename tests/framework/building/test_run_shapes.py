"""Shape rules that are asked once more when a run brings shapes that were not known before."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("level", [-1, 1])
def test_shapes_that_a_rule_refuses_are_refused_where_only_the_run_tells_them(level: int) -> None:
    gradients, features = tf.placeholder(tf.float32, None), tf.placeholder(tf.float32, None)
    found = tf.raw_ops.ReluGrad(gradients=gradients, features=features)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = level
    with tf.Session(config=config) as session:
        assert session.run(found, {gradients: [1.0, 2.0], features: [-1.0, 1.0]}).tolist() == [0, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes|must be equal"):
            session.run(found, {gradients: [1.0, 2.0], features: [1.0, 1.0, 1.0]})
        assert session.run(found, {gradients: [3.0], features: [1.0]}).tolist() == [3]


def test_a_rule_sees_the_value_of_an_axis_that_was_fed() -> None:
    value, axis = tf.placeholder(tf.float32, None), tf.placeholder(tf.int32, None)
    total = tf.cumsum(value, axis)
    with tf.Session() as session:
        assert session.run(total, {value: [1.0, 2.0], axis: 0}).tolist() == [1, 3]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(total, {value: np.ones((2, 2), np.float32), axis: 2})


def test_another_value_of_an_axis_is_looked_at_where_the_shapes_have_passed() -> None:
    value, axis = tf.placeholder(tf.float32, None), tf.placeholder(tf.int32, [])
    total = tf.cumsum(value, axis)
    ones = np.ones((2, 2), np.float32)
    with tf.Session() as session:
        assert session.run(total, {value: ones, axis: 0}).tolist() == [[1, 1], [2, 2]]
        for outside in (2, -3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis must be in|[Ee]xpected .*axis"):
                session.run(total, {value: ones, axis: outside})
        assert session.run(total, {value: ones, axis: 1}).tolist() == [[1, 2], [1, 2]]


def test_an_update_of_a_variable_refuses_a_rate_that_is_no_scalar() -> None:
    variable = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
    rate = tf.placeholder(tf.float32, None)
    update = tf.raw_ops.ApplyGradientDescent(var=variable._ref(), alpha=rate, delta=[1.0, 1.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(update, {rate: 0.5}).tolist() == [0.5, 1.5]
        with pytest.raises(tf.errors.InvalidArgumentError, match="rank 0 but is rank 1"):
            session.run(update, {rate: [0.5]})
        assert session.run(variable).tolist() == [0.5, 1.5]


def test_ranks_may_have_bounds() -> None:
    with pytest.raises(ValueError, match="Shape must be at least rank 3 but is rank 2"):
        tf.raw_ops.AdjustHue(images=np.zeros((2, 3), np.float32), delta=0.5)
    with pytest.raises(ValueError, match="Shape must be at most rank 1 but is rank 2"):
        tf.raw_ops.ReduceJoin(inputs=["a"], reduction_indices=[[0]])

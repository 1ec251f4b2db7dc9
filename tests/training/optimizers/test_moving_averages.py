"""ExponentialMovingAverage and its parts."""

from __future__ import annotations

import pytest

import weft as tf
from weft.training.optimizers import moving_averages


def follow(averages, var, value, steps):
    """The average after each of some steps in which the variable is set and averaged."""
    update = averages.apply([var])
    source = tf.placeholder(var.dtype.base_dtype, var.get_shape())
    change = tf.assign(var, source)
    seen = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(steps):
            session.run(change, {source: value(step)})
            session.run(update)
            seen.append(session.run(averages.average(var)))
    return seen


def test_an_average_starts_at_the_variables_value_and_follows_it():
    v = tf.Variable(10.0)
    seen = follow(tf.train.ExponentialMovingAverage(0.75), v, lambda step: 20.0, 7)
    wanted, expected = [], 10.0
    for _ in range(7):
        expected = 0.75 * expected + 0.25 * 20.0
        wanted.append(expected)
    assert seen == pytest.approx(wanted)


def test_few_updates_are_forgotten_sooner():
    v = tf.Variable(10.0)
    count = tf.Variable(2.0, trainable=False)
    seen = follow(tf.train.ExponentialMovingAverage(0.99, num_updates=count), v, lambda step: 20.0, 1)
    assert seen == pytest.approx([0.25 * 10.0 + 0.75 * 20.0])


def test_resource_variables_are_averaged():
    v = tf.Variable(10.0, use_resource=True)
    seen = follow(tf.train.ExponentialMovingAverage(0.5), v, lambda step: 20.0, 2)
    assert seen == pytest.approx([15.0, 17.5])


def test_all_trainable_variables_are_averaged_by_default():
    v, w = tf.Variable(1.0), tf.Variable(1.0, trainable=False)
    averages = tf.train.ExponentialMovingAverage(0.5)
    averages.apply()
    assert averages.average(v) is not None
    assert averages.average(w) is None


def test_names_and_collections():
    with tf.variable_scope("layer"):
        v = tf.get_variable("v", [2])
    averages = tf.train.ExponentialMovingAverage(0.5)
    assert averages.average_name(v) == "layer/v/ExponentialMovingAverage"
    update = averages.apply([v])
    shadow = averages.average(v)
    assert averages.name == "ExponentialMovingAverage"
    assert update.name == "ExponentialMovingAverage"
    assert averages.average_name(v) == "layer/v/ExponentialMovingAverage"
    assert shadow.name == "layer/v/ExponentialMovingAverage:0"
    assert tf.moving_average_variables() == [v]
    assert shadow in tf.global_variables()
    assert shadow not in tf.trainable_variables()


def test_shadows_are_restored_into_variables():
    v, other = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="other", trainable=False)
    averages = tf.train.ExponentialMovingAverage(0.5)
    averages.apply([v])
    assert averages.variables_to_restore() == {
        "v/ExponentialMovingAverage": v,
        "other": other,
    }
    assert averages.variables_to_restore([]).keys() == {"v", "other", "v/ExponentialMovingAverage"}


def test_before_apply_names_are_foretold():
    v = tf.Variable(1.0, name="v")
    assert tf.train.ExponentialMovingAverage(0.5).variables_to_restore() == {"v/ExponentialMovingAverage": v}


def test_applying_twice_keeps_the_shadow():
    v = tf.Variable(1.0)
    averages = tf.train.ExponentialMovingAverage(0.5)
    averages.apply([v])
    shadow = averages.average(v)
    averages.apply([v])
    assert averages.average(v) is shadow


def test_tensors_are_averaged_from_zero():
    x = tf.placeholder(tf.float32, [], name="x")
    averages = tf.train.ExponentialMovingAverage(0.5)
    update = averages.apply([x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update, {x: 8.0})
        assert session.run(averages.average(x)) == 4.0


def test_zero_debias_corrects_the_start():
    x = tf.placeholder(tf.float32, [], name="x")
    averages = tf.train.ExponentialMovingAverage(0.5, zero_debias=True)
    update = averages.apply([x])
    names = {each.op.name for each in tf.global_variables()}
    assert names == {
        "x/ExponentialMovingAverage", "x/ExponentialMovingAverage/biased", "x/ExponentialMovingAverage/local_step",
    }  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update, {x: 8.0})
        assert session.run(averages.average(x)) == 8.0
        session.run(update, {x: 2.0})
        assert session.run(averages.average(x)) == pytest.approx((0.5 * 4.0 + 0.5 * 2.0) / 0.75)


def test_only_floating_types_are_averaged():
    v = tf.Variable(1, name="count")
    with pytest.raises(TypeError, match="The variables must be half, float, or double: count:0"):
        tf.train.ExponentialMovingAverage(0.5).apply([v])


def test_a_weighted_average():
    value, weight = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    average = moving_averages.weighted_moving_average(value, 0.5, weight)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(average, {value: 4.0, weight: 1.0}) == 4.0
        assert session.run(average, {value: 8.0, weight: 2.0}) == pytest.approx((0.25 * 4 + 0.5 * 16) / (0.25 + 1.0))

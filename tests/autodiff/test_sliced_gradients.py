"""Gradients of rows that branches and loops gather are slices; what TensorFlow prints of them is in tests/differential."""

from __future__ import annotations

import numpy as np

import weft as tf


def rows() -> tf.Variable:
    return tf.get_variable("v", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))


def squares_of(v: tf.Variable, steps: tf.Tensor) -> tf.Tensor:
    def add(i: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, total + tf.reduce_sum(tf.gather(v, [i, i + 1]) ** 2)

    return tf.while_loop(lambda i, _: i < steps, add, [0, 0.0])[1]


def test_a_loop_that_gathers_is_compiled_with_its_gradient() -> None:
    v = rows()
    (gradient,) = tf.gradients(squares_of(v, tf.constant(3)), [v])
    assert isinstance(gradient, tf.IndexedSlices)
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    with tf.Session(config=config) as session:
        session.run(v.initializer)
        found = session.run(gradient)
        (stage,) = session.explain(gradient)
    assert stage.way == "compiled"
    assert found.indices.tolist() == [0, 2, 3, 1, 2, 0, 1]


def test_a_loop_without_an_iteration_has_a_gradient_of_the_whole_shape() -> None:
    v = rows()
    steps = tf.placeholder(tf.int32, [])
    (gradient,) = tf.gradients(squares_of(v, steps), [v])
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run(gradient, {steps: 0})
        dense = session.run(tf.convert_to_tensor(gradient), {steps: 0})
    assert found.dense_shape.tolist() == [4, 2]
    assert dense.tolist() == [[0.0, 0.0]] * 4


def test_the_gradient_of_a_gradient_goes_through_the_slices() -> None:
    v = rows()
    taken = tf.placeholder_with_default(True, [])
    value = tf.cond(taken, lambda: tf.reduce_sum(tf.gather(v, [1, 1]) ** 3), lambda: 0.0) + squares_of(v, tf.constant(1))
    (first,) = tf.gradients(value, [v])
    (second,) = tf.gradients(tf.convert_to_tensor(first), [v])
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run(tf.convert_to_tensor(second))
    assert found.tolist() == [[2.0, 2.0], [26.0, 38.0], [0.0, 0.0], [0.0, 0.0]]

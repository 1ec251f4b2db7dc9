"""Gradients of rows that branches and loops gather are slices; what TensorFlow prints of them is in tests/differential."""

from __future__ import annotations

import numpy as np
import pytest

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


# Ops before a gather, and the nodes that TensorFlow 1.15.5 makes with them and the gradients by the time a random node follows.
NODES_TO_ROWS = {
    "tanh": (tf.tanh, 26),
    "opposite": (tf.negative, 21),
    "softmax": (tf.nn.softmax, 35),
    "reshape": (lambda rows: tf.reshape(rows, [10, -1]), 28),
    "product": (lambda rows: rows * 2.0, 40),
    "sum with a vector": (lambda rows: rows + tf.ones([3]), 38),
    "matrix product": (lambda rows: tf.matmul(rows, tf.ones([3, 4])), 33),
    "sum": (lambda rows: tf.reduce_sum(rows, 1), 47),
    "cross entropy": (
        lambda rows: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros([20], tf.int32), logits=rows),
        32,
    ),
}


@pytest.mark.parametrize("name", NODES_TO_ROWS)
def test_a_random_node_behind_gradients_of_gathered_rows_gets_tensorflows_seed(name: str) -> None:
    apply, nodes = NODES_TO_ROWS[name]

    def seed(is_differentiated: bool) -> int:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            table = tf.get_variable("table", [20, 3])
            if is_differentiated:
                tf.gradients(tf.gather(apply(table), [0]), [table])
            tf.random_uniform([])
            return [op for op in graph.get_operations() if op.type == "RandomUniform"][-1].get_attr("seed2")

    assert seed(True) - seed(False) == nodes

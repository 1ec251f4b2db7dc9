"""Writes graphs with control flow of the first version, and what TensorFlow 1.15 computes with them, for the tests beside it.

    python3.7 make_graphs.py tensorflow_graphs.zip

It runs where TensorFlow 1.15 is installed, and nothing of weft is.
"""

import sys

import numpy as np
import tensorflow as tf
from graph_archive import GraphArchive
from tensorflow.python.ops import control_flow_ops

_GRAPHS = GraphArchive(tf)
graph, scalar = _GRAPHS.graph, _GRAPHS.scalar


@graph
def branch():
    x = scalar()
    return [tf.cond(x > 0, lambda: x * 2, lambda: x - 1)], [{"x:0": 3.0}, {"x:0": -3.0}]


@graph
def gradient_of_branch():
    x = scalar()
    y = tf.cond(x > 0, lambda: tf.exp(x * 2), lambda: x * x - 1)
    return [y, tf.gradients(y, x)[0]], [{"x:0": 3.0}, {"x:0": -3.0}]


@graph
def gradient_of_branch_in_branch():
    x = scalar()
    y = tf.cond(x > 0, lambda: tf.cond(x > 1, lambda: tf.exp(x), lambda: x * x * x), lambda: tf.sin(x))
    return [y, tf.gradients(y, x)[0]], [{"x:0": 3.0}, {"x:0": 0.5}, {"x:0": -3.0}]


def _vector():
    return tf.placeholder(tf.float32, [None], name="x")


def _branches_of_vectors(x, depth):
    if depth == 0:
        return tf.sin(x) * x

    def scaled():
        return _branches_of_vectors(x * 2.0, depth - 1)

    def squared():
        return _branches_of_vectors(x * x, depth - 1) - x

    return tf.cond(tf.reduce_sum(x) > depth * 1.5, scaled, squared)


@graph
def gradients_of_vectors_in_three_branches():
    x = _vector()
    y = _branches_of_vectors(x, 3)
    return [y, tf.gradients(y, x)[0]], [{"x:0": [1.0, 2.0]}, {"x:0": [0.1, 0.3]}, {"x:0": [5.0, -3.0]}]


@graph
def second_gradients_of_branches_in_branches():
    x = _vector()
    first = tf.gradients(_branches_of_vectors(x, 2), x)[0]
    return [first, tf.gradients(first * first, x)[0]], [{"x:0": [1.0, 2.0]}, {"x:0": [0.1, 0.3]}, {"x:0": [1.5, -0.2]}]


@graph
def gradient_of_rows_that_branches_read():
    v = tf.get_variable("v", initializer=[1.5, 2.0, -1.0])
    x = _vector()
    y = tf.case(
        [
            (x[0] > 3.0, lambda: tf.gather(v, [0, 2]) * x),
            (x[0] > 0.0, lambda: tf.cond(x[1] > 0.5, lambda: x * v[0], lambda: tf.gather(v, [1, 1]) / x)),
        ],
        default=lambda: x,
    )
    gradient = tf.convert_to_tensor(tf.gradients(y, v)[0])
    return [y, gradient], [{"x:0": [4.0, 2.0]}, {"x:0": [1.0, 2.0]}, {"x:0": [1.0, 0.2]}, {"x:0": [-1.0, 0.2]}]


@graph
def gradient_of_rows_that_a_loop_in_two_branches_reads():
    v = tf.get_variable("v", initializer=[1.5, 2.0, -1.0], use_resource=True)
    x = _vector()

    def iterated():
        return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s * x + tf.reduce_sum(tf.gather(v, [i, 0]))), [0, x])[1]

    y = tf.cond(x[0] > 0.0, lambda: tf.cond(x[0] > 1.0, iterated, lambda: x * v[2]), lambda: x * v[1])
    gradient = tf.convert_to_tensor(tf.gradients(y, v)[0])
    return [y, gradient], [{"x:0": [2.0, 3.0]}, {"x:0": [0.5, 2.0]}, {"x:0": [-0.5, 2.0]}]


@graph
def branch_of_inputs_alone():
    x = scalar()
    return [tf.cond(x > 0, lambda: x, lambda: x)], [{"x:0": 3.0}, {"x:0": -3.0}]


@graph
def branches_of_one_predicate_in_a_row():
    x = scalar()
    chosen = x > 0
    y = x
    for factor in (2.0, 3.0, 4.0):
        y = tf.cond(chosen, lambda y=y, factor=factor: tf.sin(y) * factor, lambda y=y: y + 1.0)
    return [y, tf.gradients(y, x)[0]], [{"x:0": 3.0}, {"x:0": -3.0}]


@graph
def cases():
    x = scalar()
    y = tf.case([(x > 2, lambda: x * 2), (x > 1, lambda: x * 3)], default=lambda: x * 4)
    return [y, tf.gradients(y, x)[0]], [{"x:0": 3.0}, {"x:0": 1.5}, {"x:0": 0.5}]


@graph
def number_of_the_merged_input():
    x = scalar()
    no, yes = control_flow_ops.switch(x, x > 0)
    merged = control_flow_ops.merge([yes, tf.negative(no)])
    return [merged.output, tf.identity(merged.value_index)], [{"x:0": 3.0}, {"x:0": -3.0}]


@graph
def assertion():
    x = scalar()
    with tf.control_dependencies([tf.Assert(x > 0, [x])]):
        return [tf.identity(x)], [{"x:0": 3.0}]


@graph
def update_in_branch():
    v = tf.get_variable("v", initializer=1.0)
    x = scalar()
    with tf.control_dependencies([tf.cond(x > 0, lambda: tf.assign_add(v, x).op, tf.no_op)]):
        return [tf.identity(v)], [{"x:0": 3.0}, {"x:0": -3.0}]


@graph
def loop():
    return list(tf.while_loop(lambda i, s: i < 10, lambda i, s: (i + 1, s + i), [0, 0])), [{}]


@graph
def gradient_of_loop():
    x = scalar()
    _, s = tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, s * x + tf.sin(s)), [0, x])
    return [s, tf.gradients(s, x)[0]], [{"x:0": 0.7}]


@graph
def gradient_of_branch_in_loop():
    x = scalar()

    def body(i, s):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s * x, lambda: tf.exp(s) * 0.1)

    _, s = tf.while_loop(lambda i, s: i < 5, body, [0, x])
    return [s, tf.gradients(s, x)[0]], [{"x:0": 0.7}]


@graph
def gradient_of_loop_in_loop():
    x = scalar()

    def body(i, s):
        _, t = tf.while_loop(lambda j, t: j < 3, lambda j, t: (j + 1, t * x + 0.1), [0, s])
        return i + 1, t + tf.sin(s)

    _, s = tf.while_loop(lambda i, s: i < 3, body, [0, x])
    return [s, tf.gradients(s, x)[0]], [{"x:0": 0.7}]


@graph
def gradient_of_loop_in_branch():
    x = scalar()

    def iterated():
        return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), [0, x])[1]

    y = tf.cond(x > 0, iterated, lambda: x * x - 1)
    return [y, tf.gradients(y, x)[0]], [{"x:0": 3.0}, {"x:0": -3.0}]


@graph
def gated_gradient_of_loop_in_loop():
    x = scalar()

    def body(i, s):
        _, t = tf.while_loop(lambda j, t: j <= i, lambda j, t: (j + 1, t * x + tf.sin(t)), [0, s])
        return i + 1, t

    y = tf.cond(x > 0, lambda: tf.while_loop(lambda i, s: i < 3, body, [0, x])[1], lambda: x)
    return [y, tf.gradients(y, x, gate_gradients=True)[0]], [{"x:0": 0.7}, {"x:0": -0.7}]


@graph
def tensor_arrays():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row * row), x)
    scanned = tf.scan(lambda a, row: a * 0.5 + row, x)
    gradient = tf.gradients([mapped, scanned], x)[0]
    return [mapped, scanned, gradient], [{"x:0": np.arange(12.0).reshape(4, 3).tolist()}]


@graph
def recurrent_network():
    x = tf.placeholder(tf.float32, [2, None, 3], name="x")
    cell = tf.nn.rnn_cell.LSTMCell(4, initializer=tf.constant_initializer(0.1))
    outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=[3, 5])
    loss = tf.reduce_sum(outputs * outputs)
    gradients = tf.gradients(loss, tf.trainable_variables())
    return [loss, *gradients], [{"x:0": np.linspace(0, 1, 30).reshape(2, 5, 3).tolist()}]


@graph
def batch_normalization():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    training = tf.placeholder(tf.bool, [], name="training")
    loss = tf.reduce_sum(tf.square(tf.layers.batch_normalization(x, training=training)))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([step]):
        after = tf.identity(loss)
    rows = np.arange(12.0).reshape(3, 4).tolist()
    return [loss, after], [{"x:0": rows, "training:0": True}, {"x:0": rows, "training:0": False}]


if __name__ == "__main__":
    _GRAPHS.write(sys.argv[1])

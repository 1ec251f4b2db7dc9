"""Writes graphs with functions, loops and branches of the second version, and what TensorFlow 2 computes with them.

    python make_functional_graphs.py functional_graphs.zip

It runs where TensorFlow 2 is installed, and nothing of weft is.
"""

import sys

import numpy as np
import tensorflow as tf2
from graph_archive import GraphArchive

tf = tf2.compat.v1
_GRAPHS = GraphArchive(tf)
graph, scalar = _GRAPHS.graph, _GRAPHS.scalar


@graph
def function():
    @tf2.function
    def f(a, b):
        return a * b + 1.0, tf2.sin(a)

    x = scalar()
    y, z = f(x, x + 1)
    return [y, z, tf.gradients(y * z, x)[0]], [{"x:0": 0.7}]


@graph
def function_with_statements():
    @tf2.function
    def f(a):
        s = a
        for _ in tf2.range(4):
            if s > 2.0:  # noqa: SIM108 - a statement, for autograph
                s = s + a
            else:
                s = s * a * 1.5
        return s

    x = scalar()
    y = f(x)
    return [y, tf.gradients(y, x)[0]], [{"x:0": 1.2}, {"x:0": 3.0}]


@graph
def function_that_updates():
    v = tf.get_variable("v", initializer=2.0, use_resource=True)

    @tf2.function
    def f(a):
        v.assign_add(a)
        return v * a

    y = f(scalar())
    with tf.control_dependencies([y]):
        return [y, v.read_value()], [{"x:0": 1.2}, {"x:0": 3.0}]


@graph
def lists():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    mapped = tf2.map_fn(lambda row: tf2.reduce_sum(row * row), x)
    scanned = tf2.scan(lambda a, row: a * 0.5 + row, x)
    gradient = tf.gradients([mapped, scanned], x)[0]
    return [mapped, scanned, gradient], [{"x:0": np.arange(12.0).reshape(4, 3).tolist()}]


@graph
def loop_with_branch_in_loop():
    x = scalar()

    def body(i, s):
        def inner(j, t):
            return j + 1, tf.cond(t > 1.0, lambda: t * x + 0.1, lambda: tf.exp(t) * x)

        _, t = tf.while_loop(lambda j, t: j < 3, inner, [0, s])
        return i + 1, t * 0.3 + tf.sin(s)

    _, s = tf.while_loop(lambda i, s: i < 3, body, [0, x])
    return [s, tf.gradients(s, x)[0]], [{"x:0": 0.7}]


@graph
def switch_case():
    number, x = tf.placeholder(tf.int32, [], name="number"), scalar()
    y = tf.switch_case(number, [lambda: x, lambda: x * x, lambda: tf.exp(x)])
    return [y, tf.gradients(y, x)[0]], [{"x:0": 0.7, "number:0": chosen} for chosen in (0, 1, 2, 5, -1)]


@graph
def recurrent_layer():
    x = tf.placeholder(tf.float32, [2, 5, 3], name="x")
    layer = tf2.keras.layers.LSTM(4, kernel_initializer="ones", recurrent_initializer="ones")
    return [layer(x)], [{"x:0": np.linspace(0, 1, 30).reshape(2, 5, 3).tolist()}]


@graph
def gradient_of_branch_taken_twice():
    w = tf.get_variable("w", initializer=[0.3, -0.4], use_resource=True)
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.cond(x[0] > 0, lambda: tf.sin(x * w), lambda: tf.exp(x) * w)
    return [tf.gradients(y, [w, x])[1], tf.gradients(y, w)[0]], [{"x:0": [0.7, 2.0]}, {"x:0": [-0.7, 2.0]}]


if __name__ == "__main__":
    tf.enable_control_flow_v2()
    _GRAPHS.write(sys.argv[1])

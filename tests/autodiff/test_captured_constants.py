"""Gradients of constants that the bodies of cond and while_loop take from the graph around them."""

from __future__ import annotations

import weft as tf


def test_a_constant_that_both_branches_use_gets_its_gradient():
    tf.reset_default_graph()
    factor, value = tf.constant(2.0), tf.placeholder(tf.float32, [])
    result = tf.cond(value > 0.0, lambda: factor * value, lambda: factor)
    gradient = tf.gradients(result, factor)[0]
    with tf.Session() as session:
        assert session.run([gradient, gradient], {value: 3.0}) == [3.0, 3.0]
        assert session.run(gradient, {value: -3.0}) == 1.0


def test_a_constant_that_a_loop_multiplies_by_gets_its_gradient():
    tf.reset_default_graph()
    factor = tf.constant(2.0)
    power = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * factor), [0, factor])[1]
    with tf.Session() as session:
        assert session.run(tf.gradients(power, factor)) == [32.0]

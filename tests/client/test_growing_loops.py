"""Gradients of loops and branches that sessions of every kind have run before."""

from __future__ import annotations

import weft as tf


def test_a_gradient_may_be_asked_for_after_a_loop_has_run(open_session, graph):
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), tf.constant(2.0)])
    session = open_session()
    assert session.run(y, {x: 3.0}) == 54
    gradient = tf.gradients(y, x)[0]
    assert session.run(gradient, {x: 3.0}) == 54
    assert session.run([y, gradient], {x: 2.0}) == [16, 24]
    assert session.run(y, {x: 2.0}) == 16


def test_a_gradient_may_be_asked_for_after_a_loop_in_a_branch_has_run(open_session, graph):
    x, chosen = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])

    def loop():
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), [tf.constant(0), tf.constant(2.0)])[1]

    y = tf.cond(chosen, loop, lambda: x * 5)
    session = open_session()
    assert session.run(y, {x: 3.0, chosen: True}) == 54
    gradient = tf.gradients(y, x)[0]
    assert session.run(gradient, {x: 3.0, chosen: True}) == 54
    assert session.run([y, gradient], {x: 3.0, chosen: False}) == [15, 5]

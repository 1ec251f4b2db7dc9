"""Functions whose gradient is another's: what variables inside have of it."""

from __future__ import annotations

import weft as tf


def test_variables_of_a_function_whose_gradient_passes_through_have_none() -> None:
    with tf.variable_scope("through", use_resource=True):
        x = tf.get_variable("x", (), initializer=tf.constant_initializer(5.0))
        z = tf.get_variable("z", (), initializer=tf.constant_initializer(3.0))
    product = tf.grad_pass_through(lambda v: x * v)(z**2)
    of_x, of_z = tf.gradients(product, [x, z])
    assert of_x is None
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run([product, of_z]) == [45, 6]

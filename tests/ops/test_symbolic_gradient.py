"""The default gradient of ops some of whose inputs must be known to differentiate them."""

from __future__ import annotations

import numpy as np

import weft as tf


def test_the_gradient_of_a_gather_follows_the_axis_that_a_run_feeds() -> None:
    values, axis = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.int32, [])
    taken = tf.gather(values, tf.placeholder_with_default([0, 1, 1], None), axis=axis)
    found = tf.gradients(taken, values)[0]
    with tf.Session() as session:
        by_axis = [session.run(found, {values: np.ones((2, 3)), axis: each}).tolist() for each in (0, 1)]
    assert by_axis == [[[1, 1, 1], [2, 2, 2]], [[1, 2, 0], [1, 2, 0]]]

"""Weights are brought to the rank of their values."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_weights_of_a_known_shape_may_weigh_values_of_an_unknown_rank(shape) -> None:
    values, weights = tf.placeholder(tf.float32), tf.placeholder(tf.float32, shape)
    mean, update = tf.metrics.mean(values, weights)
    assert mean.dims == ()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        assert sess.run(update, {values: np.ones(shape) * 3, weights: np.ones(shape)}) == 3


def test_weights_of_another_rank_are_aligned_by_the_run() -> None:
    labels, predictions = tf.placeholder(tf.int64), tf.placeholder(tf.int64)
    weights = tf.placeholder(tf.float32, [3])
    update = tf.metrics.accuracy(labels, predictions, weights=weights)[1]
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        feeds = {labels: [[1], [2], [3]], predictions: [[1], [0], [3]], weights: [2, 1, 1]}
        assert sess.run(update, feeds) == 0.75

"""Losses are multiplied by a scale, and their gradients divided by it again."""

from __future__ import annotations

import weft as tf


def test_the_scale_is_inverted_once_for_all_gradients():
    variables = [tf.Variable(1.0) for _ in range(3)]
    optimizer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), 8.0)
    optimizer.compute_gradients(tf.add_n(variables))
    assert [op.type for op in tf.get_default_graph().get_operations()].count("RealDiv") == 1

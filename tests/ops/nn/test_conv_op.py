"""Gradients of convolutions that fit nothing."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def test_filters_for_no_channels_have_no_gradient_for_an_input_with_some() -> None:
    filters = tf.placeholder(tf.float64)
    made = tf.nn.conv2d_backprop_input([1, 6, 5, 2], filters, np.zeros((1, 5, 4, 3)), [1, 1, 1, 1], "VALID")
    with tf.Session() as sess:
        assert sess.run(made, {filters: np.ones((2, 2, 2, 3))}).shape == (1, 6, 5, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="filter depth must be strictly greater than zero"):
            sess.run(made, {filters: np.ones((2, 2, 0, 3))})

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


@pytest.mark.parametrize("rows", [4, 6, 0])
def test_an_outputs_gradient_of_another_size_fits_no_convolution(rows: int) -> None:
    gradient = tf.placeholder(tf.float32)
    filters, images = np.ones((2, 2, 2, 3), np.float32), np.ones((1, 6, 5, 2), np.float32)
    made = [
        tf.nn.conv2d_backprop_input([1, 6, 5, 2], filters, gradient, [1, 1, 1, 1], "VALID"),
        tf.nn.conv2d_backprop_filter(images, [2, 2, 2, 3], gradient, [1, 1, 1, 1], "VALID"),
    ]
    with tf.Session() as sess:
        assert [each.shape for each in sess.run(made, {gradient: np.ones((1, 5, 4, 3))})] == [(1, 6, 5, 2), (2, 2, 2, 3)]
        for each in made:
            found = f"Size of out_backprop doesn't match computed: actual = {rows}, computed = 5 spatial_dim: 1"
            with pytest.raises(tf.errors.InvalidArgumentError, match=found):
                sess.run(each, {gradient: np.ones((1, rows, 4, 3))})


def test_images_without_channels_give_images_without_pixels_or_zeros() -> None:
    images = tf.placeholder(tf.float32)
    made = tf.nn.conv2d(images, np.ones((2, 2, 2, 6), np.float32), [1, 1, 1, 1], "SAME")
    with tf.Session() as sess:
        assert sess.run(made, {images: np.ones((1, 0, 0, 0))}).shape == (1, 0, 0, 6)

"""Gradients of colours, against finite differences and what TensorFlow makes of colours below zero."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import assert_gradient, each_way, session
from tests.ops.both_ways import own_graph as own_graph

_PIXELS = np.random.RandomState(3).uniform(0.1, 0.9, (4, 5, 3))


@each_way
@pytest.mark.parametrize("convert", [tf.image.rgb_to_hsv, tf.image.hsv_to_rgb])
def test_gradients_are_the_slopes(way: str, convert: object) -> None:
    pixels = tf.placeholder(tf.float64, [None, 5, 3])
    weights = np.random.RandomState(4).uniform(-1, 1, (4, 5, 3))
    with session(way) as sess:
        assert_gradient(sess, convert(pixels) * weights, pixels, _PIXELS)  # type: ignore[operator]


def test_a_grey_pixel_has_the_slope_of_its_value_alone() -> None:
    pixel = tf.placeholder(tf.float32, [1, 3])
    gradient = tf.gradients(tf.image.rgb_to_hsv(pixel)[:, 2], pixel)[0]
    with tf.Session() as sess:
        assert sess.run(gradient, {pixel: [[0.5, 0.5, 0.5]]}).tolist() == [[1.0, 0.0, 0.0]]
        assert np.isfinite(sess.run(tf.gradients(tf.image.rgb_to_hsv(pixel), pixel)[0], {pixel: [[0.0, 0.0, 0.0]]})).all()


def test_a_channel_below_zero_has_no_part_in_the_saturation() -> None:
    pixel = tf.placeholder(tf.float32, [1, 3])
    gradient = tf.gradients(tf.image.rgb_to_hsv(pixel)[:, 1], pixel)[0]
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(gradient, {pixel: [[0.4, 0.5, -0.1]]}), [[0, -0.4, 0]], rtol=1e-6)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
def test_gradients_have_the_type_of_the_pixels(dtype: tf.DType) -> None:
    pixels = tf.constant(_PIXELS, dtype)
    for convert in (tf.image.rgb_to_hsv, tf.image.hsv_to_rgb):
        assert tf.gradients(convert(pixels), pixels)[0].dtype == dtype


def test_the_gradients_are_nodes_that_tensorflow_has() -> None:
    pixels = tf.placeholder(tf.float32, [None, 3])
    tf.gradients([tf.image.rgb_to_hsv(pixels), tf.image.hsv_to_rgb(pixels)], pixels)
    assert "KernelGradient" not in {node.type for node in tf.get_default_graph().get_operations()}

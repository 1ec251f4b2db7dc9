"""Gradients of resized images. What the images look like is compared with TensorFlow in the differential programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

SIZES = [((4, 5), (9, 7)), ((9, 8), (4, 3)), ((1, 1), (4, 5)), ((6, 7), (1, 1))]


@pytest.mark.parametrize("options", [{}, {"align_corners": True}, {"half_pixel_centers": True}])
@pytest.mark.parametrize("resize", [tf.image.resize_bilinear, tf.image.resize_bicubic])
def test_the_gradient_is_the_transpose_of_the_resizing(resize: Callable[..., Any], options: dict[str, bool]) -> None:
    random = np.random.RandomState(0)
    pairs = []
    with tf.Graph().as_default(), tf.Session() as session:
        for old, new in SIZES:
            images, weights = random.rand(2, *old, 2), random.rand(2, *new, 2).astype(np.float32)
            source = tf.constant(images)
            made = resize(source, new, **options)
            gradient = tf.gradients(tf.reduce_sum(made * weights), source)[0]
            assert gradient.op.type == f"{made.op.type}Grad"
            pairs.append((tf.reduce_sum(made * weights), tf.reduce_sum(tf.cast(gradient * images, tf.float32)), gradient))
        for there, back, gradient in session.run(pairs):
            np.testing.assert_allclose(there, back, rtol=1e-5)
            assert gradient.dtype == np.float64


def test_integer_images_have_no_gradient() -> None:
    with tf.Graph().as_default():
        images = tf.zeros([1, 4, 4, 1], tf.uint8)
        assert tf.gradients(tf.image.resize_bicubic(images, [2, 2]), images) == [None]

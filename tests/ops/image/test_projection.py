"""Projections of images to places that are none, and of sizes that are none."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import each_way, session
from tests.ops.both_ways import own_graph as own_graph

_IMAGE = np.random.RandomState(0).rand(1, 3, 3, 1)


@each_way
def test_places_far_out_are_at_an_end_and_those_that_are_no_number_beside_the_image(way: str) -> None:
    transforms = tf.placeholder(tf.float32, [1, 8])
    modes = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
    made = [
        tf.raw_ops.ImageProjectiveTransformV3(
            images=_IMAGE.astype(np.float32), transforms=transforms, output_shape=[3, 1], fill_value=7.0,
            interpolation="NEAREST", fill_mode=mode,
        )
        for mode in modes
    ]  # fmt: skip
    beside, first, last = np.full(3, 7, np.float32), *(_IMAGE.astype(np.float32)[0, :, at, 0] for at in (0, 2))
    by_number = {
        float("nan"): [beside] * 4, float("inf"): [beside, first, last, last], 1e30: [beside, first, last, last],
        -1e30: [beside, first, first, first],
    }  # fmt: skip
    with session(way) as sess:
        for number, expected in by_number.items():
            found = sess.run(made, {transforms: [[1, 0, number, 0, 1, 0, 0, 0]]})
            np.testing.assert_array_equal([each.ravel() for each in found], expected)


def test_pixels_are_interpolated_in_single_precision() -> None:
    identity = [[1.0, 0, 0, 0, 1, 0, 0, 0]]
    made = {
        kind: tf.raw_ops.ImageProjectiveTransformV2(
            images=tf.constant(_IMAGE), transforms=identity, output_shape=[3, 3], interpolation=kind
        )
        for kind in ("NEAREST", "BILINEAR")
    }  # fmt: skip
    with tf.Session() as sess:
        found = sess.run(made)
    np.testing.assert_array_equal(found["NEAREST"], _IMAGE)
    np.testing.assert_array_equal(found["BILINEAR"], _IMAGE.astype(np.float32))
    assert found["BILINEAR"].dtype == np.float64


@pytest.mark.parametrize("size", [[0, 3], [3, -1]])
def test_an_image_without_pixels_is_refused(size: list[int]) -> None:
    made = tf.contrib.image.transform(tf.constant(_IMAGE), [1.0, 0, 0, 0, 1, 0, 0, 0], output_shape=size)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="output dimensions must be positive"):
        sess.run(made)


def test_a_size_below_minus_one_is_refused_as_the_graph_is_built() -> None:
    with pytest.raises(ValueError, match="Dimension -2 must be >= 0"):
        tf.contrib.image.transform(tf.constant(_IMAGE), [1.0, 0, 0, 0, 1, 0, 0, 0], output_shape=[3, -2])


@pytest.mark.parametrize(("interpolation", "fill_mode"), [("CUBIC", "CONSTANT"), ("NEAREST", "MIRROR")])
def test_an_unknown_mode_is_refused_while_the_graph_is_built(interpolation: str, fill_mode: str) -> None:
    wrong = interpolation if interpolation == "CUBIC" else fill_mode
    with pytest.raises(ValueError, match=f"Invalid .* {wrong}. Supported types are"):
        tf.raw_ops.ImageProjectiveTransformV2(
            images=tf.constant(_IMAGE), transforms=tf.ones([1, 8]), output_shape=[3, 3], interpolation=interpolation,
            fill_mode=fill_mode,
        )  # fmt: skip

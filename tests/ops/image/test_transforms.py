"""Images changed, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

RANDOM = np.random.RandomState(0)
IMAGE = RANDOM.randint(0, 256, (6, 5, 3)).astype(np.uint8)
BATCH = RANDOM.randint(0, 256, (2, 4, 4, 3)).astype(np.uint8)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (tf.image.flip_left_right, lambda image: image[:, ::-1]),
        (tf.image.flip_up_down, lambda image: image[::-1]),
        (tf.image.transpose_image, lambda image: image.transpose(1, 0, 2)),
        (tf.image.rot90, np.rot90),
        (lambda image: tf.image.rot90(image, k=2), lambda image: np.rot90(image, 2)),
        (lambda image: tf.image.rot90(image, k=-1), lambda image: np.rot90(image, -1)),
        (lambda image: tf.image.rot90(image, k=4), lambda image: image),
        (lambda image: tf.image.rot90(image, k=tf.placeholder_with_default(3, [])), lambda image: np.rot90(image, 3)),
        (lambda image: tf.image.rot90(image, k=tf.placeholder_with_default(-2, [])), lambda image: np.rot90(image, -2)),
        (lambda image: tf.image.central_crop(image, 0.5), lambda image: image[1:-1, 1:-1]),
        (lambda image: tf.image.crop_to_bounding_box(image, 1, 0, 2, 3), lambda image: image[1:3, :3]),
    ],
)
def test_pixels_move_in_images_and_in_batches(
    run: Callable[[Any], Any], change: Callable[..., Any], expected: Callable[..., Any]
) -> None:
    assert np.array_equal(run(change(IMAGE)), expected(IMAGE))
    assert np.array_equal(run(change(BATCH)), np.stack([expected(image) for image in BATCH]))


def test_dtypes_are_converted_with_their_scale(run: Callable[[Any], Any]) -> None:
    levels = np.array([0, 1, 128, 255], np.uint8)
    floats = run(tf.image.convert_image_dtype(levels, tf.float32))
    assert floats == pytest.approx(levels / 255.0)
    assert run(tf.image.convert_image_dtype(floats, tf.uint8)).tolist() == levels.tolist()
    assert run(tf.image.convert_image_dtype([-0.5, 0.0, 1.0, 1.5], tf.uint8, saturate=True)).tolist() == [0, 0, 255, 255]
    assert run(tf.image.convert_image_dtype(levels, tf.uint16)).tolist() == [0, 256, 32768, 65280]
    assert run(tf.image.convert_image_dtype(levels, tf.int16)).tolist() == [0, 128, 16384, 32640]


def test_grey_is_the_weighed_sum_of_the_colours_and_back(run: Callable[[Any], Any]) -> None:
    grey = run(tf.image.rgb_to_grayscale(IMAGE))
    assert grey.shape == (6, 5, 1)
    assert grey.dtype == np.uint8
    assert np.abs(grey[..., 0] - IMAGE @ np.array([0.2989, 0.587, 0.114])).max() <= 1
    assert np.array_equal(run(tf.image.grayscale_to_rgb(grey)), np.repeat(grey, 3, axis=-1))


def test_brightness_and_contrast_saturate(run: Callable[[Any], Any]) -> None:
    assert run(tf.image.adjust_brightness(np.array([[[10, 250]]], np.uint8), 0.1)).tolist() == [[[35, 255]]]
    assert run(tf.image.adjust_brightness([[[0.25]]], -0.5)).tolist() == [[[-0.25]]]
    contrast = run(tf.image.adjust_contrast(np.array([[[10], [110]]], np.uint8), 2.0))
    assert contrast.tolist() == [[[0], [160]]]


def test_what_is_no_image_or_does_not_fit_is_told_when_the_graph_is_built() -> None:
    with pytest.raises(ValueError, match="'image' must be at least three-dimensional"):
        tf.image.flip_left_right([[1, 2]])
    with pytest.raises(ValueError, match="'image' must have either 3 or 4 dimensions"):
        tf.image.crop_to_bounding_box([[1, 2]], 0, 0, 1, 1)
    with pytest.raises(ValueError, match="Last dimension of a grayscale image should be size 1"):
        tf.image.grayscale_to_rgb(IMAGE)
    with pytest.raises(ValueError, match="must have rank 0"):
        tf.image.rot90(IMAGE, [1, 2])
    with pytest.raises(ValueError, match="width must be >= target"):
        tf.image.crop_to_bounding_box(IMAGE, 0, 3, 2, 3)
    with pytest.raises(ValueError, match="central_fraction must be within"):
        tf.image.central_crop(IMAGE, 0.0)


@pytest.mark.parametrize("shape", [[0, 4, 3], [4, 4, 0], [0, 4, 4, 3]])
def test_an_image_without_pixels_is_refused_where_the_graph_knows_it(shape: list[int]) -> None:
    for function, arguments in [
        (tf.image.flip_left_right, ()), (tf.image.random_flip_up_down, ()), (tf.image.rot90, ()),
        (tf.image.transpose_image, ()), (tf.image.per_image_standardization, ()), (tf.image.central_crop, (0.5,)),
        (tf.image.resize_image_with_crop_or_pad, (2, 2)), (tf.image.pad_to_bounding_box, (0, 0, 5, 5)),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=r"all dims of 'image.shape' must be > 0"):
            function(tf.zeros(shape), *arguments)


@pytest.mark.parametrize(
    ("change", "static", "wanted"),
    [
        (tf.image.flip_left_right, [None, None, None], IMAGE[:, ::-1]),
        (tf.image.flip_up_down, [None, None, None], IMAGE[::-1]),
        (tf.image.rot90, [None, None, None], np.rot90(IMAGE)),
        (tf.image.transpose_image, [None, None, None], IMAGE.transpose(1, 0, 2)),
        (lambda image: tf.image.resize_image_with_crop_or_pad(image, 4, 5), [4, 5, None], IMAGE[1:5]),
        (lambda image: tf.image.crop_to_bounding_box(image, 1, 2, 3, 2), [3, 2, None], IMAGE[1:4, 2:4]),
        (lambda image: tf.image.grayscale_to_rgb(image[..., :1]), None, np.repeat(IMAGE[..., :1], 3, axis=-1)),
        (lambda image: tf.image.adjust_contrast(image, 1.0), None, IMAGE),
    ],
)
def test_a_tensor_of_unknown_rank_counts_as_one_image(run: Callable[[Any], Any], change: Any, static: Any, wanted: Any) -> None:
    image = tf.image.decode_image(run(tf.image.encode_png(IMAGE)))
    assert image.shape.ndims is None
    changed = change(image)
    assert (changed.shape.as_list() if static else changed.shape.ndims) == static
    assert np.array_equal(run(changed), wanted)


def test_images_of_unknown_rank_are_mirrored_by_chance(run: Callable[[Any], Any]) -> None:
    image = tf.placeholder_with_default(IMAGE, None)
    flipped = run(tf.image.random_flip_left_right(image, seed=3))
    assert np.array_equal(flipped, IMAGE) or np.array_equal(flipped, IMAGE[:, ::-1])
    with pytest.raises(ValueError, match="rank = 3 or rank = 4"):
        tf.image.central_crop(image, 0.5)


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_images_without_pixels_are_projected(run: Callable[[Any], Any], interpolation: str) -> None:
    for given, size in (((0, 3, 3, 1), (2, 2)), ((1, 0, 3, 1), (2, 2)), ((1, 3, 3, 0), (2, 2))):
        made = run(tf.contrib.image.transform(tf.zeros(given), tf.ones([8]), interpolation, size))
        np.testing.assert_array_equal(made, np.zeros((given[0], 2, 2, given[3])))

"""Fractional pooling has the windows and numbers of TensorFlow 1.15.5, by its seeds; the numbers were asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

_IMAGES = np.cos(np.arange(2 * 7 * 9.0) ** 2).reshape(2, 7, 9, 1).astype(np.float32)
_RATIO = [1, 1.44, 1.73, 1]
_SEEDS = {"deterministic": True, "seed": 5, "seed2": 9}


def _run(pool: Any, images: Any = _IMAGES, ratio: Any = _RATIO, **kwargs: Any) -> tuple[Any, ...]:
    value = tf.constant(images)
    pooled = pool(value, ratio, **kwargs)
    weights = tf.reshape(tf.range(tf.cast(tf.size(pooled.output), value.dtype)), tf.shape(pooled.output))
    with tf.Session() as session:
        return session.run((*pooled, tf.gradients(pooled.output * weights, value)[0]))


@pytest.mark.parametrize(
    ("kwargs", "rows", "columns", "first", "slopes"),
    [
        ({}, [0, 2, 4, 5, 7], [0, 2, 4, 6, 8, 9], [1.0, 0.87115, 0.9912, 0.36732, 0.99965], [0, 0, 0, 1, 0, 0, 3, 0, 4]),
        (
            {"overlapping": True},
            [0, 2, 4, 5, 7], [0, 2, 4, 6, 8, 9], [1.0, 0.9811, 0.9912, 0.99965, 0.99965], [0, 0, 0, 0, 0, 0, 0, 0, 7],
        ),
        (
            {"pseudo_random": True},
            [0, 2, 4, 6, 7], [0, 2, 4, 6, 7, 9], [1.0, 0.87115, 0.9912, 0.36732, 0.99965], [0, 0, 0, 1, 0, 0, 3, 0, 4],
        ),
        (
            {"pseudo_random": True, "overlapping": True},
            [0, 2, 4, 6, 7], [0, 2, 4, 6, 7, 9], [1.0, 0.9811, 0.9912, 0.36732, 0.99965], [0, 0, 0, 0, 0, 0, 3, 0, 4],
        ),
    ],
)  # fmt: skip
def test_greatest_numbers_are_tensorflows(kwargs: Any, rows: Any, columns: Any, first: Any, slopes: Any) -> None:
    output, row_places, column_places, gradient = _run(tf.nn.fractional_max_pool, **_SEEDS, **kwargs)
    assert row_places.tolist() == rows
    assert column_places.tolist() == columns
    np.testing.assert_allclose(output[0, 0, :, 0], first, rtol=1e-4)
    assert gradient[0, 1, :, 0].tolist() == slopes


@pytest.mark.parametrize(
    ("overlapping", "first", "slopes"),
    [
        (False, [0.79483, -0.18557, 0.29363, 0.12504, 0.69575], [1.25, 1.25, 1.5, 1.5, 1.75, 1.75, 2, 2, 4.5]),
        (
            True, [0.00853, -0.00689, 0.25355, -0.045, 0.18099],
            [0.55556, 0.55556, 1.33333, 0.77778, 1.77778, 1, 2.22222, 1.22222, 5.55556],
        ),
    ],
)  # fmt: skip
def test_means_are_tensorflows(overlapping: bool, first: Any, slopes: Any) -> None:
    output, _, _, gradient = _run(tf.nn.fractional_avg_pool, **_SEEDS, overlapping=overlapping)
    np.testing.assert_allclose(output[0, 0, :, 0], first, atol=1e-5)
    np.testing.assert_allclose(gradient[0, 2, :, 0], slopes, rtol=1e-4)


def test_means_of_integers_have_no_fraction() -> None:
    with tf.Session() as session:
        pooled = session.run(tf.nn.fractional_avg_pool((_IMAGES * 100).astype(np.int32), _RATIO, **_SEEDS)[0])
    assert pooled[0, :2, :, 0].tolist() == [[79, -18, 29, 12, 69], [-18, 12, 81, -21, 6]]


def test_one_seed_chooses_the_windows_in_the_second_version() -> None:
    of_two = tf.compat.v2.nn
    for pool, ratio in ((of_two.fractional_max_pool, 1.5), (of_two.fractional_avg_pool, [1, 1.5, 1.5, 1])):
        *_, rows, columns, _ = _run(pool, ratio=ratio, seed=4)
        assert rows.tolist() == [0, 2, 3, 5, 7]
        assert columns.tolist() == [0, 1, 2, 4, 6, 7, 9]


def test_windows_without_a_seed_are_others_in_each_run() -> None:
    places = tf.nn.fractional_max_pool(tf.zeros([1, 50, 57, 1]), [1, 1.3, 1.61, 1])[1]
    with tf.Session() as session:
        runs = [session.run(places) for _ in range(4)]
    assert all(np.diff(each).min() >= 1 and each[-1] == 50 for each in runs)
    assert len({tuple(each) for each in runs}) > 1


def test_sizes_that_divide_have_windows_of_one_size() -> None:
    _, rows, columns, _ = _run(tf.nn.fractional_max_pool, np.zeros([1, 4, 6, 1], np.float32), [1, 2, 3, 1])
    assert rows.tolist() == [0, 2, 4]
    assert columns.tolist() == [0, 3, 6]


def test_shapes_are_known_as_far_as_the_images() -> None:
    pooled = tf.nn.fractional_max_pool(tf.placeholder(tf.float32, [None, None, 9, 2]), _RATIO)
    assert [each.shape.as_list() for each in pooled] == [[None, None, 5, 2], [None], [6]]


@pytest.mark.parametrize(
    ("ratio", "kwargs", "told"),
    [
        ([1, 1, 1], {}, "pooling_ratio"),
        ([2, 1, 1, 1], {}, "not yet supported on the batch nor channel"),
        ([1, 0.5, 1, 1], {}, "cannot be smaller than 1, got: 0.5"),
        ([1, 8, 1, 1], {}, "leaves nothing of a dimension of size 7"),
        ([1, 1.5, 1.5, 1], {"seed": 3}, "Both seed and seed2 should be 0 if deterministic is false"),
    ],
)
def test_ratios_and_seeds_that_do_not_fit_are_refused(ratio: Any, kwargs: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        tf.nn.fractional_avg_pool(_IMAGES, ratio, **kwargs)


def test_a_fed_image_that_is_too_small_is_refused() -> None:
    images = tf.placeholder(tf.float32, [1, None, None, 1])
    pooled = tf.nn.fractional_max_pool(images, [1, 8, 1, 1])[0]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="leaves nothing of 7 x 9 pixels"):
        session.run(pooled, {images: _IMAGES[:1]})


def test_gradients_of_windows_that_do_not_cover_an_image_are_of_its_shape() -> None:
    given = {"out_backprop": np.array([[[[4.0], [2.0]], [[2.0], [1.0]]]]), "row_pooling_sequence": [1, 2, 3]}
    made = tf.raw_ops.FractionalAvgPoolGrad(orig_input_tensor_shape=[1, 3, 4, 1], col_pooling_sequence=[0, 2, 3], **given)
    with tf.Session() as session:
        assert session.run(made)[0, :, :, 0].tolist() == [[0, 0, 0, 0], [2, 2, 2, 0], [1, 1, 1, 0]]


def test_an_output_that_is_not_of_its_input_has_no_gradient() -> None:
    image = np.arange(16.0).reshape(1, 4, 4, 1)
    places = {"row_pooling_sequence": [0, 2, 4], "col_pooling_sequence": [0, 2, 4]}
    made = tf.placeholder(tf.float64)
    back = tf.raw_ops.FractionalMaxPoolGrad(orig_input=image, orig_output=made, out_backprop=np.ones((1, 2, 2, 1)), **places)
    greatest = np.array([[[[5.0], [7.0]], [[13.0], [15.0]]]])
    with tf.Session() as session:
        assert session.run(back, {made: greatest}).sum() == 4
        with pytest.raises(tf.errors.InvalidArgumentError, match="tensor_out_dup is not the same as tensor_out"):
            session.run(back, {made: greatest + 1.0})


@pytest.mark.parametrize(
    ("rows", "columns", "overlapping", "told"),
    [
        ([-4, 2, 3], [0, 2, 3], True, "Row sequence tensor values must not be negative, got -4 2 3"),
        ([0, 2, 3], [0, 2, 0], False, "Column sequence tensor values must not be negative, got 0 2 0"),
        (
            [0, 2],
            [0, 2, 3],
            False,
            r"Given out_backprop shape \[1,2,2,1\], row_seq_tensor must have at least 3 elements, but got 2",
        ),
    ],
)
def test_windows_that_are_none_have_no_gradient(rows: list[int], columns: list[int], overlapping: bool, told: str) -> None:
    gradient = tf.raw_ops.FractionalAvgPoolGrad(
        orig_input_tensor_shape=np.int64([1, 3, 3, 1]), out_backprop=np.ones((1, 2, 2, 1), np.float32),
        row_pooling_sequence=np.int64(rows), col_pooling_sequence=np.int64(columns), overlapping=overlapping,
    )  # fmt: skip
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=told):
        session.run(gradient)

"""Sequences of elements; what `tf.repeat` gives was asked of 1.15.5."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize(("times", "expected"), [([1, 0, 2], [1, 3, 3]), (2, [1, 1, 2, 2, 3, 3])])
def test_repeats_of_a_rank_that_the_step_tells(times: object, expected: list[int]) -> None:
    repeats = tf.placeholder(tf.int32)
    found = tf.repeat([1, 2, 3], repeats)
    assert found.shape.as_list() == [None]
    with tf.Session() as session:
        assert session.run(found, {repeats: times}).tolist() == expected


def test_repeats_of_an_inner_axis() -> None:
    repeats = tf.placeholder(tf.int32)
    found = tf.repeat([[1, 2, 3], [4, 5, 6]], repeats, axis=-1)
    assert found.shape.as_list() == [2, None]
    with tf.Session() as session:
        assert np.array_equal(session.run(found, {repeats: [1, 0, 2]}), [[1, 3, 3], [4, 6, 6]])


@pytest.mark.parametrize(
    ("repeats", "axis", "words"),
    [
        ([1, 2], 0, "Dimensions 3 and 2 are not compatible"),
        ([2], None, "Dimensions 3 and 1 are not compatible"),
        ([[1, 0, 2]], 0, r"Shape \(1, 3\) must have rank at most 1"),
        (2, 5, "axis=5 out of bounds: expected -1<=axis<1"),
    ],
)
def test_repeats_that_do_not_fit_are_told(repeats: object, axis: int | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tf.repeat([1, 2, 3], repeats, axis=axis)


@pytest.mark.parametrize("axis", [-1, 1, 0, -2, -3])
@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
def test_values_of_unknown_rank_are_sorted_along_any_dimension(axis: int, direction: str) -> None:
    values = np.random.RandomState(0).permutation(24).reshape(2, 3, 4).astype(np.float32)
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        found, order = sess.run([tf.sort(x, axis, direction), tf.argsort(x, axis, direction)], {x: values})
    sign = 1 if direction == "ASCENDING" else -1
    np.testing.assert_array_equal(found, sign * np.sort(sign * values, axis))
    np.testing.assert_array_equal(order, np.argsort(sign * values, axis))

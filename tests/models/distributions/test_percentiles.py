"""Percentiles of values along dimensions."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

percentile = tf.contrib.distributions.percentile
X = np.arange(6.0).reshape(2, 3)


def _value(tensor):
    with tf.Session() as sess:
        return sess.run(tensor).tolist()


@pytest.mark.parametrize("axis", [1, -1, [1], np.int64(1), np.array([1])])
def test_dimensions_are_numbers_of_any_kind(axis) -> None:
    assert _value(percentile(X, 50.0, axis=axis)) == [1, 4]
    assert _value(percentile(X, 50.0, axis=axis, keep_dims=True)) == [[1], [4]]


@pytest.mark.parametrize("axis", [5, -3, [0, 2]])
def test_a_dimension_that_is_not_there_is_refused(axis) -> None:
    with pytest.raises(ValueError, match="axis of percentile must be from -2 to 1"):
        percentile(X, 50.0, axis=axis)


def test_a_dimension_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"names a dimension of .* twice"):
        percentile(X, 50.0, axis=[1, -1])


@pytest.mark.parametrize("interpolation", ["lower", "higher", "nearest"])
def test_shares_beyond_all_give_the_least_and_the_greatest(interpolation) -> None:
    assert _value(percentile(X, -5.0, interpolation=interpolation)) == 0
    assert _value(percentile(X, 120.0, interpolation=interpolation)) == 5


@pytest.mark.parametrize(("interpolation", "expected"), [("lower", 2), ("higher", 3), ("nearest", 2)])
def test_the_neighbour_asked_for_is_taken(interpolation, expected) -> None:
    assert _value(percentile(X, 45.0, interpolation=interpolation)) == expected

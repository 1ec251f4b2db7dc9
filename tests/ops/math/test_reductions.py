"""Axes that only a run tells, and means of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import each_way, session
from tests.ops.both_ways import own_graph as own_graph


@each_way
@pytest.mark.parametrize(("node", "expected", "keep"), [(tf.raw_ops.Sum, np.sum, False), (tf.raw_ops.Min, np.min, True)])
def test_axes_in_a_matrix_are_taken_as_they_come(way: str, node: Any, expected: Any, keep: bool) -> None:
    values, axes = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    made = node(input=values, axis=axes, keep_dims=keep)
    given = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    with session(way) as sess:
        for chosen in ([[0, 2]], [[1], [0]], np.zeros((1, 0))):
            found = sess.run(made, {values: given, axes: chosen})
            axis = tuple(np.ravel(chosen).astype(int).tolist())
            np.testing.assert_allclose(found, expected(given, axis=axis, keepdims=keep))
    with pytest.raises(ValueError, match="Shape must be at most rank 1 but is rank 2"):
        node(input=values, axis=[[0, 1]])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_the_mean_of_more_numbers_than_their_dtype_counts(dtype: type[np.integer]) -> None:
    values = np.full(70_000, 100, dtype)
    with tf.Session() as session:
        assert session.run(tf.reduce_mean(values)) == 100

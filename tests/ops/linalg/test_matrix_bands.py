"""Diagonals of matrices, where there are none, and what stands beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("make", [tf.raw_ops.MatrixDiagV2, tf.raw_ops.MatrixDiagV3])
@pytest.mark.parametrize(
    ("diagonal", "k", "expected"),
    [((1, 3, 0), [-1, 1], (1, 0, 0)), ((1, 0), [1], (1, 1, 1)), ((3, 2, 0), [0, 1], (3, 0, 0))],
)
def test_empty_diagonals_make_the_smallest_matrices(
    make: Callable[..., Any], diagonal: tuple[int, ...], k: list[int], expected: tuple[int, ...]
) -> None:
    fed = tf.placeholder(tf.float32)
    made = make(diagonal=fed, k=k, num_rows=-1, num_cols=-1, padding_value=7.0)
    with tf.Session() as session:
        found = session.run(made, {fed: np.zeros(diagonal, np.float32)})
    np.testing.assert_array_equal(found, np.full(expected, 7, np.float32))


@pytest.mark.parametrize("take", [tf.raw_ops.MatrixDiagPartV2, tf.raw_ops.MatrixDiagPartV3])
def test_one_number_of_any_rank_is_a_padding_where_a_run_tells_it(take: Callable[..., Any]) -> None:
    padding = tf.placeholder(tf.float32)
    matrix = np.arange(1.0, 10.0, dtype=np.float32).reshape(3, 3)
    made = take(input=matrix, k=[0, 1], padding_value=padding)
    with tf.Session() as session:
        found = [session.run(made, {padding: np.full(shape, 7, np.float32)}) for shape in ((), (1,), (1, 1))]
        assert sorted(found[0].ravel().tolist()) == [1, 2, 5, 6, 7, 9]
        np.testing.assert_array_equal(found[1], found[0])
        np.testing.assert_array_equal(found[2], found[0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="padding_value must be a scalar"):
            session.run(made, {padding: [7.0, 7.0]})
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        take(input=matrix, k=[0, 1], padding_value=[7.0])

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

"""Tridiagonal equations are solved as dense ones are, for many systems at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def _dense(diagonals: Any) -> Any:
    upper, main, lower = diagonals
    return np.diag(main) + np.diag(upper[:-1], 1) + np.diag(lower[1:], -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_solutions_are_those_of_the_dense_matrices(dtype: Any, size: int) -> None:
    generator = np.random.default_rng(size)
    # Main diagonals near zero: elimination without exchanging rows would lose all digits.
    diagonals = (generator.standard_normal((2, 3, 3, size)) * [[1], [1e-3], [1]]).astype(dtype)
    if size == 1:
        diagonals = diagonals + 1
    right = generator.standard_normal((2, 3, size, 2)).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.linalg.tridiagonal_solve(diagonals, right))
    for index in np.ndindex(2, 3):
        matrix, tolerance = _dense(diagonals[index]), 1e-3 if dtype is np.float32 else 1e-9
        np.testing.assert_allclose(matrix @ found[index], right[index], rtol=tolerance, atol=tolerance)


def test_a_matrix_without_an_inverse_is_an_error() -> None:
    diagonals = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])  # eliminated without exchange it divides by 0
    with tf.Graph().as_default(), tf.Session() as session:
        solution = tf.linalg.tridiagonal_solve(diagonals, np.ones((3, 1)))
        assert np.isfinite(session.run(solution)).all()
        singular = tf.linalg.tridiagonal_solve(np.zeros((3, 3)), np.ones((3, 1)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            session.run(singular)


def test_no_equations_have_no_solutions() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.linalg.tridiagonal_solve(np.zeros((3, 0)), np.zeros((0, 2)))).shape == (0, 2)


def test_matrices_that_are_not_square_are_refused() -> None:
    with pytest.raises(ValueError, match=r"square matrices \[\.\.\., m, m\], they have shape \(5, 4, 7\)"):
        tf.linalg.tridiagonal_solve(np.ones([5, 4, 7]), np.ones([5, 4]), "matrix")

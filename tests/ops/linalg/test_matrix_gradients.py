"""Gradients of functions of matrices that finite differences of single elements do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

_MATRIX = np.array([[7.0, 5.0, -9.0], [-3.2, 15.0, 4.0], [0.1, -2.5, 4.3]])


def _lower(matrix: Any) -> Any:
    return np.tril(matrix) + np.tril(matrix, -1).T


@pytest.mark.parametrize("compiled", [-1, 1])
def test_eigenvalues_and_their_gradients_are_of_the_lower_triangle(compiled: int) -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = compiled
    x = tf.placeholder(tf.float64, [3, 3])
    values = tf.self_adjoint_eigvals(x)
    weights = np.array([1.0, -2.0, 0.5])
    grad = tf.gradients(tf.reduce_sum(values * weights), x)[0]
    with tf.Session(config=config) as session:
        found, back = session.run([values, grad], {x: _MATRIX})
    np.testing.assert_allclose(found, np.linalg.eigvalsh(_lower(_MATRIX)))
    expected = np.zeros((3, 3))
    for at in zip(*np.tril_indices(3), strict=True):
        step = np.zeros((3, 3))
        step[at] = 1e-6
        ends = [np.linalg.eigvalsh(_lower(_MATRIX + sign * step)) @ weights for sign in (1, -1)]
        expected[at] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(back, expected, atol=1e-6)


def test_the_gradient_of_eigenvectors_is_that_of_what_they_make() -> None:
    # What does not depend on the vectors' signs: the projection on the first one.
    x = tf.placeholder(tf.float64, [3, 3])
    _, vectors = tf.self_adjoint_eig(x)
    weights = np.random.default_rng(0).standard_normal((3, 3))

    def projected(matrix: Any) -> Any:
        first = np.linalg.eigh(_lower(matrix))[1][:, 0]
        return np.sum(np.outer(first, first) * weights)

    total = tf.reduce_sum(tf.matmul(vectors[:, :1], vectors[:, :1], transpose_b=True) * weights)
    with tf.Session() as session:
        back = session.run(tf.gradients(total, x)[0], {x: _MATRIX})
    expected = np.zeros((3, 3))
    for at in zip(*np.tril_indices(3), strict=True):
        step = np.zeros((3, 3))
        step[at] = 1e-6
        expected[at] = (projected(_MATRIX + step) - projected(_MATRIX - step)) / 2e-6
    np.testing.assert_allclose(back, expected, atol=1e-6)


def test_a_number_that_does_not_count_in_a_tridiagonal_matrix_may_be_nan() -> None:
    above, middle, below = [[1.0, 2.0, np.nan]], [[1.0, 1.0, 1.0]], [[np.nan, 3.0, 4.0]]
    product = tf.linalg.tridiagonal_matmul([above[0], middle[0], below[0]], np.ones((3, 1)), diagonals_format="compact")
    with tf.Session() as session:
        assert session.run(product).ravel().tolist() == [2.0, 6.0, 5.0]

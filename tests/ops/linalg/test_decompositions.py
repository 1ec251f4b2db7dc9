"""What is said of matrices that have no inverse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf

_SINGULAR = np.array([[1.0, 2.0], [0.0, 0.0]], np.float32)


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: tf.linalg.solve(x, [[1.0], [2.0]]), "Input matrix"),
        (lambda x: tf.linalg.triangular_solve(x, [[1.0], [2.0]], lower=False), "Input matrix"),
        (tf.linalg.inv, "Input"),
        (lambda x: tf.linalg.lu(x).lu, "Input"),
    ],
)
def test_a_matrix_without_an_inverse_is_refused_in_tensorflows_words(
    function: Callable[[np.ndarray], tf.Tensor], what: str
) -> None:
    found = function(_SINGULAR)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{what} is not invertible\."):
        sess.run(found)


def test_of_a_batch_it_is_told_which_matrix_has_no_inverse() -> None:
    found = tf.linalg.lu(np.stack([np.eye(2, dtype=np.float32), _SINGULAR]))
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"not invertible\. It is the matrix at \[1\]"),
    ):
        sess.run(found)


def test_no_matrices_have_no_triangles() -> None:
    triangles, order = tf.linalg.lu(np.zeros((0, 2, 2), np.float32))
    with tf.Session() as sess:
        assert [each.shape for each in sess.run([triangles, order])] == [(0, 2, 2), (0, 2)]


@pytest.mark.parametrize("is_known", [True, False])
def test_batches_are_solved_inverted_and_put_together_again(is_known: bool) -> None:
    matrices, right = np.random.RandomState(0).rand(3, 2, 2), np.ones([2, 1])
    given = tf.placeholder_with_default(matrices, matrices.shape if is_known else None)
    triangles, order = tf.linalg.lu(given)
    found = [
        tf.linalg.lu_solve(triangles, order, tf.placeholder_with_default(right, right.shape if is_known else None)),
        tf.linalg.lu_matrix_inverse(triangles, order), tf.linalg.lu_reconstruct(triangles, order)
    ]  # fmt: skip
    wanted = [np.linalg.solve(matrices, right[None]), np.linalg.inv(matrices), matrices]
    with tf.Session() as session:
        for values, expected in zip(session.run(found), wanted, strict=True):
            np.testing.assert_allclose(values, expected)
    if is_known:
        assert [each.shape for each in found] == [each.shape for each in wanted]


def test_axes_of_a_norm_are_integers() -> None:
    for axis in ([], [1, 2, 3], [[1]], [3.14], [1, 1]):
        with pytest.raises(ValueError, match="'axis' must be None, an integer, or a tuple of 2 unique integers"):
            tf.norm(np.eye(2), axis=axis)

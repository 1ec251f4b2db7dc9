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
    ],
)
def test_a_matrix_without_an_inverse_is_refused_in_tensorflows_words(
    function: Callable[[np.ndarray], tf.Tensor], what: str
) -> None:
    found = function(_SINGULAR)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=rf"^{what} is not invertible\."):
        sess.run(found)

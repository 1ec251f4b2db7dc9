"""tf.compat.v2.test.compute_gradient, of functions in a graph."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.testing.function_gradient_check import compute_gradient, max_error


def test_both_jacobians_have_a_row_for_each_element_of_the_argument() -> None:
    with tf.Graph().as_default(), tf.Session():
        theoretical, numeric = compute_gradient(lambda x: x * [1.0, 2.0, 3.0], [2.0])
    (gradient,), (differences,) = theoretical, numeric
    assert gradient.dtype == np.float32
    np.testing.assert_array_equal(gradient, [[1, 2, 3]])
    np.testing.assert_allclose(differences, [[1, 2, 3]], rtol=1e-4)
    assert max_error(theoretical, numeric) == np.fabs(gradient - differences).max()


def test_each_argument_has_its_own() -> None:
    one, other = np.arange(2.0).reshape(1, 2), np.ones((2, 3))
    with tf.Graph().as_default(), tf.Session():
        theoretical, numeric = compute_gradient(tf.matmul, [one, tf.constant(other)])
    assert [each.shape for each in theoretical] == [(2, 3), (6, 3)]
    assert max_error(theoretical, numeric) < 1e-9


def test_rows_that_are_gathered_twice_count_twice() -> None:
    with tf.Graph().as_default(), tf.Session():
        theoretical, numeric = compute_gradient(lambda x: tf.gather(x, [0, 0]), [np.ones(2)])
    np.testing.assert_array_equal(theoretical[0], [[1, 1], [0, 0]])
    assert max_error(theoretical, numeric) < 1e-9


def test_no_elements_have_no_error() -> None:
    with tf.Graph().as_default(), tf.Session():
        assert max_error(*compute_gradient(lambda x: x, [np.zeros((0, 2))])) == 0


@pytest.mark.parametrize(
    ("function", "x", "error", "text"),
    [
        (
            tf.identity,
            np.ones(2),
            ValueError,
            r"`x` must be a list of Tensors \(arguments to `f`\), not a .*write \[x\] for one",
        ),
        (tf.identity, [1], AssertionError, "unsupported type int32 of argument 0"),
        (lambda x: tf.cast(x, tf.int32), [1.0], AssertionError, "unsupported type int32 of y"),
    ],
)
def test_what_has_no_gradient_is_refused(function: object, x: object, error: type[Exception], text: str) -> None:
    with tf.Graph().as_default(), tf.Session(), pytest.raises(error, match=text):
        compute_gradient(function, x)  # type: ignore[arg-type]


def test_a_session_is_missing() -> None:
    with pytest.raises(ValueError, match=r"with session\.as_default\(\)"):
        compute_gradient(tf.identity, [1.0])

"""Functions of matrices take linear operators, and give what the operators' methods give."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph as own_graph

_MATRIX = np.array([[1.0, 0.5], [0.5, 1.0]])
_BATCH = np.arange(12.0).reshape(3, 2, 2)


def _operator() -> tf.linalg.LinearOperator:
    return tf.linalg.LinearOperatorFullMatrix(_MATRIX, is_self_adjoint=True, is_positive_definite=True)


def test_functions_of_one_matrix() -> None:
    functions = (tf.trace, tf.linalg.diag_part, tf.linalg.logdet, tf.linalg.det)
    wanted = [2.0, [1.0, 1.0], np.log(0.75), 0.75]
    with tf.Session() as session:
        for function, value in zip(functions, wanted, strict=True):
            np.testing.assert_allclose(session.run(function(_operator())), value)
        inverse = tf.linalg.inv(_operator())
        assert isinstance(inverse, tf.linalg.LinearOperator)
        np.testing.assert_allclose(session.run(inverse.to_dense()), np.linalg.inv(_MATRIX))
    assert isinstance(tf.linalg.adjoint(_operator()), tf.linalg.LinearOperator)
    assert isinstance(tf.linalg.cholesky(_operator()), tf.linalg.LinearOperatorLowerTriangular)


def test_products_and_solutions() -> None:
    found = [
        tf.matmul(_operator(), _BATCH, adjoint_b=True), tf.matmul(_BATCH, _operator()), tf.linalg.solve(_operator(), _BATCH)
    ]  # fmt: skip
    wanted = [_MATRIX @ _BATCH.transpose(0, 2, 1), _BATCH @ _MATRIX, np.linalg.solve(_MATRIX, _BATCH)]
    with tf.Session() as session:
        for values, expected in zip(session.run(found), wanted, strict=True):
            np.testing.assert_allclose(values, expected)


def test_what_they_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="Transposing not supported"):
        tf.matmul(_operator(), _BATCH, transpose_a=True)
    with pytest.raises(ValueError, match="rhs as LinearOperator not supported"):
        tf.linalg.solve(_MATRIX, _operator())
    with pytest.raises(TypeError):
        tf.linalg.diag_part(_operator(), k=1)


def test_shapes_of_an_update_that_do_not_fit_are_refused() -> None:
    base = tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64)
    make = tf.linalg.LinearOperatorLowRankUpdate
    u = np.ones([5, 3, 2])
    assert make(base, u[:1], diag_update=np.ones([4, 2])).shape == (4, 3, 3)
    for wrong in ({"v": np.ones([4, 3, 2])}, {"diag_update": np.ones([4, 2])}):
        with pytest.raises(ValueError, match="Incompatible shapes"):
            make(base, u, **wrong)
    for rows, columns, wrong in ((4, 2, {}), (3, 2, {"diag_update": np.ones([5, 4])}), (3, 2, {"v": np.ones([5, 3, 1])})):
        with pytest.raises(ValueError, match="are not compatible"):
            make(base, np.ones([5, rows, columns]), **wrong)

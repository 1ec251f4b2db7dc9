"""Solvers that see a matrix through its products with vectors: against NumPy, and TensorFlow 1.15.5's numbers of nodes."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_SOLVERS = tf.contrib.solvers
_WIDE = np.random.RandomState(0).randn(7, 5)
_DEFINITE = _WIDE.T @ _WIDE + np.eye(5)
_RIGHT = np.linspace(-1, 2, 5)


def _operator(matrix: np.ndarray):
    return _SOLVERS.util.create_operator(tf.constant(matrix))


def _run(values):
    with tf.Session() as session:
        return session.run(values)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("start", [None, np.ones(5)])
def test_conjugate_gradients_solve_linear_equations(start):
    x = None if start is None else tf.constant(start)
    state = _run(_SOLVERS.linear_equations.conjugate_gradient(_operator(_DEFINITE), tf.constant(_RIGHT), x=x, tol=1e-10))
    np.testing.assert_allclose(state.x, np.linalg.solve(_DEFINITE, _RIGHT), rtol=1e-7)
    np.testing.assert_allclose(state.r, _RIGHT - _DEFINITE @ state.x, atol=1e-9)
    assert state.i == 5


def test_conjugate_gradients_end_where_the_rest_is_short_or_the_steps_are_done():
    solve, operator, right = _SOLVERS.linear_equations.conjugate_gradient, _operator(_DEFINITE), tf.constant(_RIGHT)
    short, few = _run([solve(operator, right, tol=0.5), solve(operator, right, tol=0.0, max_iter=2)])
    assert np.linalg.norm(short.r) <= 0.5 * np.linalg.norm(_RIGHT)
    assert short.i < 5
    assert few.i == 2


def test_an_inverse_as_preconditioner_solves_in_one_step():
    inverse = _operator(np.linalg.inv(_DEFINITE))
    state = _run(_SOLVERS.linear_equations.conjugate_gradient(_operator(_DEFINITE), tf.constant(_RIGHT), inverse))
    np.testing.assert_allclose(state.x, np.linalg.solve(_DEFINITE, _RIGHT), rtol=1e-9)
    assert state.i == 1


def test_the_identity_as_preconditioner_changes_nothing():
    solve, operator, right = _SOLVERS.linear_equations.conjugate_gradient, _operator(_DEFINITE), tf.constant(_RIGHT)
    same = _SOLVERS.util.identity_operator(tf.constant(_DEFINITE))
    plain, prepared = _run([solve(operator, right, max_iter=2), solve(operator, right, same, max_iter=2)])
    np.testing.assert_array_equal(plain.x, prepared.x)


def test_least_squares_are_those_of_numpy():
    right = np.cos(np.arange(7.0))
    state = _run(_SOLVERS.least_squares.cgls(_operator(_WIDE), tf.constant(right), tol=1e-9))
    np.testing.assert_allclose(state.x, np.linalg.lstsq(_WIDE, right, rcond=None)[0], rtol=1e-7)
    np.testing.assert_allclose(state.r, right - _WIDE @ state.x, atol=1e-9)


@pytest.mark.parametrize("orthogonalize", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_a_bidiagonalization_has_the_matrix_in_bidiagonal_form(orthogonalize, known):
    matrix = tf.constant(_WIDE) if known else tf.placeholder_with_default(_WIDE, [None, None])
    start = tf.constant(np.arange(7.0))
    operator = _SOLVERS.util.create_operator(matrix)
    made = _SOLVERS.lanczos.lanczos_bidiag(operator, 3 if known else tf.constant(3), orthogonalize, start)
    right = _SOLVERS.lanczos.bidiag_matmul(made.u, made.alpha, made.beta)
    adjoint = _SOLVERS.lanczos.bidiag_matmul(made.v, made.alpha, made.beta, adjoint_b=True)
    values, right, adjoint = _run([made, right, adjoint])
    assert (values.u.shape, values.v.shape, values.alpha.shape, values.beta.shape) == ((7, 4), (5, 3), (3,), (3,))
    np.testing.assert_allclose(_WIDE @ values.v, right, atol=1e-12)
    np.testing.assert_allclose(_WIDE.T @ values.u[:, :-1], adjoint, atol=1e-12)
    np.testing.assert_allclose(values.u.T @ values.u, np.eye(4), atol=1e-10)


def test_a_random_start_has_tensorflows_seed():
    tf.set_random_seed(3)
    made = _SOLVERS.lanczos.lanczos_bidiag(_operator(_WIDE), 2)
    np.testing.assert_allclose(_run(made.alpha), [3.527030606556246, 1.4105380284089633], atol=1e-9)


def test_lengths_and_products():
    vector = tf.constant([3.0, 4.0])
    util = _SOLVERS.util
    found = _run([util.l2norm(vector), util.l2norm_squared(vector), util.dot(vector, [1.0, 2.0]), *util.l2normalize(vector)])
    np.testing.assert_allclose(np.concatenate([np.ravel(each) for each in found]), [5, 25, 11, 0.6, 0.8, 5], rtol=1e-6)
    assert _run(util.dot(tf.constant([1 + 2j]), tf.constant([1 + 2j]))) == 5


def test_conjugate_gradients_count_as_many_nodes_as_in_tensorflow(graph):
    operator, before = _operator(_DEFINITE), graph.last_id
    _SOLVERS.linear_equations.conjugate_gradient(operator, tf.constant(_RIGHT))
    assert graph.last_id - before == 87
    before = graph.last_id
    _SOLVERS.least_squares.cgls(operator, tf.constant(_RIGHT))
    assert graph.last_id - before == 79

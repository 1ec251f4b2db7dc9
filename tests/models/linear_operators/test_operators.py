"""Every linear operator does what its dense matrix does, and keeps the promises that follow from its structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

_RANDOM = np.random.RandomState(0)
A, B = _RANDOM.randn(3, 3) + 3 * np.eye(3), _RANDOM.randn(2, 2) + 3 * np.eye(2)
BATCH = _RANDOM.randn(2, 3, 3) + 3 * np.eye(3)
SPD = A @ A.T + np.eye(3)
D, AXIS, COL, ROW = np.array([2.0, -1.0, 0.5]), np.array([1.0, 2.0, 2.0]), np.array([4.0, 1, 2]), np.array([4.0, -1, 0.5])
U, V = _RANDOM.randn(3, 1), _RANDOM.randn(3, 1)
UNIT = AXIS[:, None] / 3

L = tf.linalg
_Make = Callable[[], "tf.linalg.LinearOperator"]


def _full(matrix: np.ndarray, **hints: bool) -> tf.linalg.LinearOperator:
    return L.LinearOperatorFullMatrix(matrix, **hints)


def _kernel(spectrum: np.ndarray) -> np.ndarray:
    column = np.fft.ifftn(spectrum).reshape(-1)
    if spectrum.ndim == 1:
        return np.stack([np.roll(column, k) for k in range(len(column))], axis=1)
    forward = np.fft.fftn(np.eye(column.size).reshape(-1, *spectrum.shape), axes=range(1, spectrum.ndim + 1))
    return np.fft.ifftn(forward * spectrum, axes=range(1, spectrum.ndim + 1)).reshape(column.size, -1).T


SPECTRUM, SPECTRUM_2D = np.array([6.0, 2 + 1j, 2 - 1j]), np.array([[4.0, 2.0], [3.0, 1.0]], np.complex128)
SPECTRUM_3D = (np.arange(8) + 1.0).reshape(2, 2, 2).astype(np.complex128)

OPERATORS: dict[str, tuple[_Make, np.ndarray]] = {
    "FullMatrix": (lambda: _full(A), A),
    "FullMatrix, batches": (lambda: _full(BATCH), BATCH),
    "FullMatrix, positive definite": (lambda: _full(SPD, is_positive_definite=True, is_self_adjoint=True), SPD),
    "LowerTriangular": (lambda: L.LinearOperatorLowerTriangular(A), np.tril(A)),
    "Diag": (lambda: L.LinearOperatorDiag(D), np.diag(D)),
    "Diag, batches": (lambda: L.LinearOperatorDiag(np.stack([D, D + 3])), np.stack([np.diag(D), np.diag(D + 3)])),
    "Diag, complex": (lambda: L.LinearOperatorDiag(D + 1j), np.diag(D + 1j)),
    "Identity": (lambda: L.LinearOperatorIdentity(3, dtype=tf.float64), np.eye(3)),
    "Identity, batches": (
        lambda: L.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64), np.broadcast_to(np.eye(3), (2, 3, 3)),
    ),
    "ScaledIdentity": (lambda: L.LinearOperatorScaledIdentity(3, np.float64(2.5)), 2.5 * np.eye(3)),
    "ScaledIdentity, batches": (
        lambda: L.LinearOperatorScaledIdentity(3, np.array([2.5, -1.0])), np.stack([2.5 * np.eye(3), -np.eye(3)]),
    ),
    "Householder": (lambda: L.LinearOperatorHouseholder(AXIS), np.eye(3) - 2 * UNIT @ UNIT.T),
    "Toeplitz": (lambda: L.LinearOperatorToeplitz(COL, ROW), np.array([[4, -1, 0.5], [1, 4, -1], [2, 1, 4.0]])),
    "Circulant": (lambda: L.LinearOperatorCirculant(SPECTRUM, tf.complex128), _kernel(SPECTRUM)),
    "Circulant, real": (lambda: L.LinearOperatorCirculant(SPECTRUM, tf.float64), _kernel(SPECTRUM).real),
    "Circulant2D": (lambda: L.LinearOperatorCirculant2D(SPECTRUM_2D, tf.complex128), _kernel(SPECTRUM_2D)),
    "Circulant3D": (lambda: L.LinearOperatorCirculant3D(SPECTRUM_3D, tf.complex128), _kernel(SPECTRUM_3D)),
    "Adjoint": (lambda: L.LinearOperatorAdjoint(_full(A)), A.T),
    "Adjoint, complex": (lambda: L.LinearOperatorAdjoint(_full(A + 1j * BATCH[0])), (A + 1j * BATCH[0]).conj().T),
    "Inversion": (lambda: L.LinearOperatorInversion(_full(A)), np.linalg.inv(A)),
    "Composition": (lambda: L.LinearOperatorComposition([_full(A), L.LinearOperatorDiag(D)]), A @ np.diag(D)),
    "BlockDiag": (
        lambda: L.LinearOperatorBlockDiag([_full(A), _full(B)]),
        np.block([[A, np.zeros((3, 2))], [np.zeros((2, 3)), B]]),
    ),
    "Kronecker": (lambda: L.LinearOperatorKronecker([_full(A), _full(B)]), np.kron(A, B)),
    "LowRankUpdate": (
        lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(D + 3, is_positive_definite=True), U, np.array([2.0]), V),
        np.diag(D + 3) + 2 * U @ V.T,
    ),
    "LowRankUpdate, symmetric": (
        lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(D + 3, is_positive_definite=True), U),
        np.diag(D + 3) + U @ U.T,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_its_dense_matrix_does(name: str) -> None:
    make, dense = OPERATORS[name]
    operator = make()
    size = dense.shape[-1]
    x = np.asarray(np.arange(2.0 * size).reshape(size, 2) - 3, dense.dtype)
    x = np.broadcast_to(x, (*dense.shape[:-2], size, 2))
    hermitian = np.conj(np.swapaxes(dense, -1, -2))
    expected = {
        "dense": (operator.to_dense(), dense),
        "matmul": (operator.matmul(x), dense @ x),
        "matmul of the adjoint": (operator.matmul(x, adjoint=True), hermitian @ x),
        "matmul by the adjoint": (operator.matmul(np.conj(np.swapaxes(x, -1, -2)), adjoint_arg=True), dense @ x),
        "matvec": (operator.matvec(x[..., 0]), (dense @ x)[..., 0]),
        "solve": (operator.solve(x), np.linalg.solve(dense, x)),
        "solve with the adjoint": (operator.solve(x, adjoint=True), np.linalg.solve(hermitian, x)),
        "solvevec": (operator.solvevec(x[..., 1]), np.linalg.solve(dense, x)[..., 1]),
        "determinant": (operator.determinant(), np.linalg.det(dense)),
        "log_abs_determinant": (operator.log_abs_determinant(), np.linalg.slogdet(dense)[1]),
        "diag_part": (operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1)),
        "trace": (operator.trace(), np.trace(dense, axis1=-2, axis2=-1)),
        "add_to_tensor": (operator.add_to_tensor(dense), dense + dense),
        "adjoint": (operator.adjoint().to_dense(), hermitian),
        "inverse": (operator.inverse().matmul(x), np.linalg.solve(dense, x)),
        "square": (operator.matmul(operator).to_dense(), dense @ dense),
        "shape": (operator.shape_tensor(), dense.shape),
    }
    assert operator.shape.as_list() == list(dense.shape)
    with tf.Session() as session:
        found = session.run({key: tensor for key, (tensor, _) in expected.items()})
    for key, (_, value) in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-6, atol=1e-6, err_msg=key)


@pytest.mark.parametrize(
    "make",
    [
        lambda: _full(SPD, is_positive_definite=True, is_self_adjoint=True),
        lambda: L.LinearOperatorDiag(D + 3, is_positive_definite=True),
        lambda: L.LinearOperatorScaledIdentity(3, np.float64(4), is_positive_definite=True),
        lambda: L.LinearOperatorBlockDiag([_full(SPD, is_positive_definite=True, is_self_adjoint=True)] * 2),
        lambda: L.LinearOperatorKronecker([L.LinearOperatorDiag(D + 3, is_positive_definite=True)] * 2),
    ],
)
def test_a_cholesky_factor_times_its_adjoint_is_the_operator(make: _Make) -> None:
    operator = make()
    factor = operator.cholesky()
    with tf.Session() as session:
        whole, lower = session.run([operator.to_dense(), factor.to_dense()])
    np.testing.assert_allclose(lower @ lower.T, whole, rtol=1e-6, atol=1e-9)
    assert np.allclose(np.triu(lower, 1), 0)


def test_zeros_give_zeros() -> None:
    zero = L.LinearOperatorZeros(2, 3, dtype=tf.float64, is_square=False, is_self_adjoint=False)
    with tf.Session() as session:
        assert session.run(zero.matmul(np.ones((3, 4)))).tolist() == np.zeros((2, 4)).tolist()
        assert session.run(zero.add_to_tensor(np.ones((2, 3)))).tolist() == np.ones((2, 3)).tolist()
    with pytest.raises(NotImplementedError):
        zero.determinant()


def test_hints_follow_from_the_structure() -> None:
    diag = L.LinearOperatorDiag(D, is_non_singular=True)
    assert (diag.is_square, diag.is_self_adjoint, diag.is_non_singular, diag.is_positive_definite) == (True, True, True, None)
    assert diag.adjoint() is diag
    assert isinstance(diag.matmul(diag), L.LinearOperatorDiag)
    assert isinstance(diag.inverse(), L.LinearOperatorDiag)
    assert _full(A).is_square
    assert _full(A, is_positive_definite=True).is_non_singular
    lower = L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(D, is_positive_definite=True), U)
    assert (lower.is_self_adjoint, lower.is_positive_definite, lower.is_diag_update_positive) == (True, True, True)
    identity = L.LinearOperatorIdentity(3, dtype=tf.float64)
    assert identity.matmul(diag) is diag
    assert L.LinearOperatorComposition([diag, diag]).is_non_singular


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _full(A, is_positive_definite=True, is_non_singular=False), "positive definite matrix is always non-singular"),
        (lambda: _full(A, is_non_singular=True, is_square=False), "non-singular matrix is always square"),
        (lambda: L.LinearOperatorDiag(D, is_self_adjoint=False), "real diagonal operator is always self adjoint"),
        (lambda: L.LinearOperatorHouseholder(AXIS, is_positive_definite=True), "non-positive definite"),
        (lambda: L.LinearOperatorDiag(np.float64(1)), "at least 1 dimension"),
        (lambda: L.LinearOperatorComposition([]), "non-empty list"),
        (lambda: _full(A).cholesky(), "Not a positive definite self adjoint matrix"),
        (lambda: _full(np.zeros((2, 3))).inverse(), "non square matrix"),
        (lambda: L.LinearOperatorComposition([_full(A), _full(B)]), "not compatible"),
        (lambda: _full(A).matmul(np.zeros((2, 2))), "not compatible"),
    ],
)
def test_contradictions_raise_while_the_graph_is_built(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_tensor_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="Expected argument to have dtype"):
        _full(A).matmul(np.zeros((3, 3), np.float32))


def test_assertions_fail_in_the_run_for_what_does_not_hold() -> None:
    good, bad = _full(SPD), _full(np.array([[1.0, 2.0], [2.0, 4.0]]))
    with tf.Session() as session:
        session.run([good.assert_non_singular(), good.assert_positive_definite(), good.assert_self_adjoint()])
        for check in (bad.assert_non_singular, bad.assert_positive_definite, _full(A).assert_self_adjoint,
                      L.LinearOperatorDiag([1.0, 0.0]).assert_non_singular):  # fmt: skip
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(check())


def test_a_program_may_have_an_operator_of_its_own() -> None:
    class Double(tf.linalg.LinearOperator):
        def _shape(self):
            return tf.TensorShape([2, 2])

        def _shape_tensor(self):
            return tf.constant([2, 2])

        def _matmul(self, x, adjoint=False, adjoint_arg=False):
            return 2 * (tf.linalg.adjoint(x) if adjoint_arg else x)

    operator = Double(tf.float32, is_square=True)
    with tf.Session() as session:
        dense, determinant, solved = session.run([operator.to_dense(), operator.determinant(), operator.solvevec([2.0, 4.0])])
    assert dense.tolist() == [[2, 0], [0, 2]]
    assert determinant == pytest.approx(4)
    assert solved.tolist() == [1, 2]


def test_gradients_go_through_an_operator() -> None:
    diagonal = tf.constant(D + 3)
    loss = tf.reduce_sum(L.LinearOperatorDiag(diagonal).solvevec(np.ones(3)))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tf.gradients(loss, diagonal)[0]), -1 / (D + 3) ** 2)


def test_an_operator_of_a_programs_own_checks_its_arguments_as_those_of_tensorflow() -> None:
    class Right(tf.linalg.LinearOperatorFullMatrix):  # type: ignore[misc]
        def matmul_right(self, x: tf.Tensor) -> Any:
            self._check_input_dtype(x)
            return tf.matmul(x, self._matrix)

    operator = Right(tf.constant([[1.0, 2.0]]))
    with tf.Session() as session:
        assert session.run(operator.matmul_right(tf.constant([[3.0]]))).tolist() == [[3.0, 6.0]]
    with pytest.raises(TypeError, match="Expected argument to have dtype"):
        operator.matmul_right(tf.constant([[3]]))

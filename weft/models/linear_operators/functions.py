"""Functions of matrices that take linear operators: `tf.matmul(operator, x)`, `tf.linalg.solve`, `tf.linalg.det` and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from weft.framework.building.aliases import TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models.linear_operators.matrices import dense_of
from weft.models.linear_operators.operator import LinearOperator
from weft.ops.dispatch import register_handler
from weft.ops.linalg.decompositions import cholesky, matrix_determinant, matrix_inverse, matrix_solve
from weft.ops.linalg.matrix_bands import matrix_diag_part
from weft.ops.linalg.matrix_functions import logdet
from weft.ops.linalg.matrix_parts import trace
from weft.ops.math.products import adjoint, matmul

# Of one matrix: the method that computes it, which takes a name alone.
_UNARY: Final[dict[Callable[..., object], Callable[..., object]]] = {
    adjoint: LinearOperator.adjoint,
    cholesky: LinearOperator.cholesky,
    logdet: LinearOperator.log_abs_determinant,
    matrix_determinant: LinearOperator.determinant,
    matrix_diag_part: LinearOperator.diag_part,
    matrix_inverse: LinearOperator.inverse,
    trace: LinearOperator.trace,
}


def _on_operator(method: Callable[..., object]) -> Callable[..., object]:
    def call(matrix: LinearOperator, name: str | None = None, **options: object) -> object:
        if any(options.values()):
            return NotImplemented
        return method(matrix) if name is None else method(matrix, name=name)

    return call


def _matmul(
    a: LinearOperator | TensorLike, b: LinearOperator | TensorLike, transpose_a: bool = False, transpose_b: bool = False,
    adjoint_a: bool = False, adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
    name: str | None = None,
) -> LinearOperator | Tensor:  # fmt: skip
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time: a linear operator takes adjoint_a and adjoint_b")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time: a linear operator is multiplied as it is")
    scope = name or "matmul"
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=scope)
    # A B is the adjoint of B^H A^H.
    assert isinstance(b, LinearOperator)
    return adjoint(dense_of(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=scope)))


def _solve(
    matrix: LinearOperator | TensorLike, rhs: LinearOperator | TensorLike, adjoint: bool = False, name: str | None = None
) -> LinearOperator | Tensor:
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and rhs as LinearOperator not supported: rhs.to_dense() is a Tensor")
    return matrix.solve(rhs, adjoint=adjoint, name=name or "solve")


for _function, _method in _UNARY.items():
    register_handler(_function, _on_operator(_method), (LinearOperator,))
register_handler(matmul, _matmul, (LinearOperator,))
register_handler(matrix_solve, _solve, (LinearOperator,))

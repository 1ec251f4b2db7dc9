"""Solvers for dense matrices whose batches are broadcast: one matrix for many right sides, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.linear_operators.matrices import same_batch
from weft.ops.linalg.decompositions import cholesky_solve, matrix_solve, matrix_triangular_solve


def broadcast_matrix_batch_dims(batch_matrices: Sequence[TensorLike], name: str | None = None) -> list[Tensor]:
    """Broadcast all dimensions but the last two of some matrices to one shape.

    Args:
        batch_matrices: tensors `[..., m, n]`, of which `m` and `n` may differ.
        name: of the scope of the ops.

    Raises:
        ValueError: one is known to have less than two dimensions.
    """
    with get_default_graph().name_scope(name or "broadcast_matrix_batch_dims"):
        matrices = [convert_to_tensor(each) for each in batch_matrices]
        for matrix in matrices:
            if matrix.dims is not None and len(matrix.dims) < 2:
                raise ValueError(f"Input matrices should have at least two dimensions, {matrix.name!r} is {matrix.shape}")
        return same_batch(*matrices) if len(matrices) > 1 else matrices


def matrix_triangular_solve_with_broadcast(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solve `matrix @ x = rhs` for triangular matrices.

    Args:
        matrix: `[..., m, m]`, of which one triangle is read.
        rhs: `[..., m, k]`, of the same dtype.
        lower: whether the lower triangle is read.
        adjoint: whether the equation's matrix is the conjugate transpose.
        name: of the scope of the ops.
    """
    with get_default_graph().name_scope(name or "MatrixTriangularSolve"):
        left, right = _operands(matrix, rhs)
        return matrix_triangular_solve(left, right, lower=lower, adjoint=adjoint)


def matrix_solve_with_broadcast(matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solve `matrix @ x = rhs`.

    Args:
        matrix: `[..., m, m]`.
        rhs: `[..., m, k]`, of the same dtype.
        adjoint: whether the equation's matrix is the conjugate transpose.
        name: of the scope of the ops.
    """
    with get_default_graph().name_scope(name or "MatrixSolveWithBroadcast"):
        left, right = _operands(matrix, rhs)
        return matrix_solve(left, right, adjoint=adjoint)


def cholesky_solve_with_broadcast(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solve `A @ x = rhs`, where the matrix is given by its lower Cholesky factor.

    Args:
        chol: `[..., m, m]`, the factor.
        rhs: `[..., m, k]`, of the same dtype.
        name: of the scope of the ops.
    """
    with get_default_graph().name_scope(name or "CholeskySolveWithBroadcast"):
        left, right = _operands(chol, rhs)
        return cholesky_solve(left, right)


def _operands(matrix: TensorLike, rhs: TensorLike) -> list[Tensor]:
    left = convert_to_tensor(matrix, name="matrix")
    return same_batch(left, convert_to_tensor(rhs, name="rhs", dtype=left.dtype))

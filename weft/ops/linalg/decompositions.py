"""Inverses, determinants, solutions of linear equations and decompositions of (batches of) matrices.

NumPy has most of these in one precision each, so that is what interprets them; narrow floats are computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, overload

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.ops.array.filling import zeros_like
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.transposing import matrix_transpose
from weft.ops.declaration import not_differentiable, op
from weft.ops.input_scope import input_scope
from weft.ops.linalg.matrix_parts import matrix_band_part, matrix_diag_node, matrix_diag_part_node, matrix_set_diag_node
from weft.ops.math.complex_numbers import conj, real
from weft.ops.math.elementwise import COMPLEX, add, mul, neg, reciprocal, sub, unbroadcast
from weft.ops.math.products import batch_mat_mul, check_inner
from weft.ops.symbolic_gradient import vjp

_REAL = (dtypes.float64, dtypes.float32, dtypes.float16)
MATRIX_TYPES = {"T": (*_REAL, *COMPLEX)}


def matrices(tensor: Tensor) -> Dims:
    """The shape of a tensor of matrices; ValueError when its rank is below 2."""
    dims = tensor.dims
    if dims is not None and len(dims) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)}")
    return dims


_SQUARE = "The matrices, in the last two dimensions, have to be square."
ROWS_OF_BOTH = "The matrix and the right side need as many rows; a vector is a right side of one column, b[:, tf.newaxis]."


def _square(tensor: Tensor) -> Dims:
    dims = matrices(tensor)
    if dims is None:
        return None
    check_inner(dims[-2], dims[-1], _SQUARE)
    size = dims[-1] if dims[-2] is None else dims[-2]
    return (*dims[:-2], size, size)


def square_shape(node: Operation) -> list[Dims]:
    return [_square(node.inputs[0])]


def _batch_shape(node: Operation) -> list[Dims]:
    dims = _square(node.inputs[0])
    return [None if dims is None else dims[:-2]] * len(node.outputs)


def widened(x: Array) -> Array:
    """Narrow floats as float32, which LAPACK has."""
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def adjoint_of(xp: ArrayModule, x: Array) -> Array:
    return xp.conj(xp.swapaxes(x, -1, -2))


def or_invalid(function: Callable[..., Array], *arguments: Array, what: str = "Input") -> Array:
    """Call a function of NumPy; a matrix that it refuses is InvalidArgumentError, which calls it `what`."""
    try:
        return function(*arguments)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError.of(f"{what} is not invertible.") from error


# Inverse and determinants.


def _inverse_gradient(node: Operation, grad: Tensor) -> Gradients:
    inverse, adjoint = node.outputs[0], node.attrs["adjoint"]
    if adjoint:
        product = batch_mat_mul(inverse, batch_mat_mul(grad, inverse, adj_x=True), adj_y=False)
        return [neg(product)]
    return [neg(batch_mat_mul(inverse, batch_mat_mul(grad, inverse, adj_y=True), adj_x=True))]


@op("MatrixInverse", "input: T -> output: T", infer=square_shape, gradient=_inverse_gradient, types=MATRIX_TYPES)
def matrix_inverse(xp: ArrayModule, input: Array, *, adjoint: bool = False) -> Result:
    """The inverses of the matrices, or of their adjoints: `[..., m, m] -> [..., m, m]`.

    Args:
        input: [..., m, m] tensor of a floating or complex dtype.
        adjoint: whether to invert the conjugate transposes.
    """
    wide = widened(input)
    return or_invalid(xp.linalg.inv, adjoint_of(xp, wide) if adjoint else wide)


def _determinant_gradient(node: Operation, grad: Tensor) -> Gradients:
    transposed = matrix_inverse(node.inputs[0], adjoint=True)
    scale = mul(grad, conj(node.outputs[0]))
    return [mul(expand_dims(expand_dims(scale, -1), -1), transposed)]


@op("MatrixDeterminant", "input: T -> output: T", infer=_batch_shape, gradient=_determinant_gradient, types=MATRIX_TYPES)
def matrix_determinant(xp: ArrayModule, input: Array) -> Result:
    """The determinants of the matrices: `[..., m, m] -> [...]`.

    Args: those of `tf.cholesky`.
    """
    return xp.linalg.det(widened(input))


def _log_determinant_gradient(node: Operation, grad_sign: Tensor | None, grad: Tensor | None) -> Gradients:
    transposed = matrix_inverse(node.inputs[0], adjoint=True)
    if grad is None:
        return [None]
    return [mul(expand_dims(expand_dims(grad, -1), -1), transposed)]


@op("LogMatrixDeterminant", "input: T -> sign: T, log_abs_determinant: T", infer=_batch_shape,
    gradient=_log_determinant_gradient, types=MATRIX_TYPES)  # fmt: skip
def log_matrix_determinant(xp: ArrayModule, input: Array) -> tuple[Result, Result]:
    """The signs of the determinants and the logarithms of their absolute values: `[..., m, m] -> [...], [...]`.

    Args: those of `tf.cholesky`.
    """
    sign, logarithm = xp.linalg.slogdet(widened(input))
    return sign, logarithm


# Solutions.


def solution_shape(node: Operation, of_batch: Callable[[Dims, Dims], Dims] = merge_dims) -> list[Dims]:
    matrix, rhs = _square(node.inputs[0]), matrices(node.inputs[1])
    if matrix is None or rhs is None:
        return [None]
    check_inner(matrix[-1], rhs[-2], ROWS_OF_BOTH)
    batch, size = of_batch(matrix[:-2], rhs[:-2]), matrix[-1] if rhs[-2] is None else rhs[-2]
    return [None if batch is None else (*batch, size, rhs[-1])]


def _solve_gradient(node: Operation, grad: Tensor) -> Gradients:
    matrix, adjoint = node.inputs[0], node.attrs["adjoint"]
    solution = node.outputs[0]
    of_rhs = matrix_solve(matrix, grad, adjoint=not adjoint)
    left, right = (solution, of_rhs) if adjoint else (of_rhs, solution)
    return [neg(batch_mat_mul(left, right, adj_y=True)), of_rhs]


@op("MatrixSolve", "matrix: T, rhs: T -> output: T", infer=solution_shape, gradient=_solve_gradient, types=MATRIX_TYPES)
def matrix_solve(xp: ArrayModule, matrix: Array, rhs: Array, *, adjoint: bool = False) -> Result:
    """The solutions X of `matrix X = rhs`, or of the equations with the adjoints of the matrices.

    `[..., m, m], [..., m, k] -> [..., m, k]`.

    Args:
        matrix: [..., m, m] tensor of a floating or complex dtype.
        rhs: [..., m, k] tensor of the same dtype.
        adjoint: whether to take the conjugate transposes of the matrices.
    """
    wide = widened(matrix)
    return or_invalid(xp.linalg.solve, adjoint_of(xp, wide) if adjoint else wide, widened(rhs), what="Input matrix")


def _triangular_shape(node: Operation) -> list[Dims]:
    return solution_shape(node, broadcast_dims)


def _triangular_gradient(node: Operation, grad: Tensor) -> Gradients:
    matrix, lower, adjoint = node.inputs[0], node.attrs["lower"], node.attrs["adjoint"]
    solution = node.outputs[0]
    of_rhs = matrix_triangular_solve_node(matrix, grad, lower=lower, adjoint=not adjoint)
    left, right = (solution, of_rhs) if adjoint else (of_rhs, solution)
    whole = neg(batch_mat_mul(left, right, adj_y=True))
    of_matrix = matrix_band_part(whole, *((-1, 0) if lower else (0, -1)))
    return [unbroadcast(of_matrix, matrix), unbroadcast(of_rhs, node.inputs[1])]


@op("MatrixTriangularSolve", "matrix: T, rhs: T -> output: T", infer=_triangular_shape, gradient=_triangular_gradient,
    types={"T": (dtypes.bfloat16, *_REAL, *COMPLEX)})  # fmt: skip
def matrix_triangular_solve_node(
    xp: ArrayModule, matrix: Array, rhs: Array, *, lower: bool = True, adjoint: bool = False
) -> Result:
    """The solutions of `matrix X = rhs` for matrices of which only one triangle counts.

    `[..., m, m], [..., m, k] -> [..., m, k]`.
    """
    triangle = (xp.tril if lower else xp.triu)(widened(matrix))
    return or_invalid(xp.linalg.solve, adjoint_of(xp, triangle) if adjoint else triangle, widened(rhs), what="Input matrix")


def matrix_triangular_solve(
    matrix: TensorLike, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """The solutions of `matrix X = rhs` for matrices of which only one triangle counts.

    Args:
        matrix: [..., m, m] tensor of a floating or complex dtype.
        rhs: [..., m, k] tensor of the same dtype.
        lower: whether the lower triangle counts, rather than the upper one.
        adjoint: whether to take the conjugate transposes of the matrices.

    Returns:
        [..., m, k] tensor of the same dtype.
    """
    return matrix_triangular_solve_node(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


# Cholesky.


def _cholesky_gradient(node: Operation, grad: Tensor) -> Gradients:
    # Murray, "Differentiation of the Cholesky decomposition" (2016), section 4.
    factor = node.outputs[0]
    inverse = matrix_triangular_solve_node(factor, eye_like(factor))
    middle = matrix_band_part(batch_mat_mul(factor, grad, adj_x=True), -1, 0)
    halved = mul(middle, half_diagonal(middle))
    of_input = batch_mat_mul(inverse, batch_mat_mul(halved, inverse), adj_x=True)
    return [mul(_plus_adjoint(of_input), 0.5)]


def _plus_adjoint(tensor: Tensor) -> Tensor:
    return add(tensor, conj(matrix_transpose(tensor)))


@op("HalfDiagonal", "x: T -> y: T", infer=square_shape, gradient=not_differentiable)
def half_diagonal(xp: ArrayModule, x: Array) -> Result:
    """Ones in the shape of the matrices, with 0.5 on the diagonals: `[..., m, m] -> [..., m, m]`."""
    return xp.broadcast_to(np.where(np.eye(x.shape[-1]) > 0, 0.5, 1.0).astype(x.dtype), x.shape)


@op("EyeLike", "x: T -> y: T", infer=square_shape, gradient=not_differentiable)
def eye_like(xp: ArrayModule, x: Array) -> Result:
    """Unit matrices in the shape of the input: `[..., m, m] -> [..., m, m]`."""
    return xp.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)


@op("Cholesky", "input: T -> output: T", infer=square_shape, gradient=_cholesky_gradient, types=MATRIX_TYPES)
def cholesky(xp: ArrayModule, input: Array) -> Result:
    """The lower triangles L with `L L* = input`, for positive definite matrices, of which the lower triangle is read.

    `[..., m, m] -> [..., m, m]`.

    Args:
        input: [..., m, m] tensor of a floating or complex dtype.
    """
    wide = widened(input)
    lower = xp.tril(wide)
    symmetric = lower + adjoint_of(xp, xp.tril(wide, -1))
    try:
        return xp.linalg.cholesky(symmetric)
    except np.linalg.LinAlgError as error:
        message = "Cholesky decomposition was not successful. The input might not be valid."
        raise InvalidArgumentError.of(message) from error


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """The solutions of `A X = rhs` from the Cholesky factors of A.

    Args:
        chol: [..., m, m] tensor of a floating or complex dtype, as `cholesky` makes it.
        rhs: [..., m, k] tensor of the same dtype.

    Returns:
        [..., m, k] tensor of the same dtype.
    """
    with input_scope(name, "cholesky_solve", (chol, rhs)):
        first = matrix_triangular_solve_node(chol, rhs, lower=True, adjoint=False)
        return matrix_triangular_solve_node(chol, first, lower=True, adjoint=True)


# QR, singular values, eigenvalues.


def _qr_shapes(node: Operation) -> list[Dims]:
    dims = matrices(node.inputs[0])
    if dims is None:
        return [None, None]
    rows, columns = dims[-2:]
    least = None if rows is None or columns is None else min(rows, columns)
    if node.attrs["full_matrices"]:
        return [(*dims[:-2], rows, rows), dims]
    return [(*dims[:-2], rows, least), (*dims[:-2], least, columns)]


@op("Qr", "input: T -> q: T, r: T", infer=_qr_shapes, gradient=vjp, types=MATRIX_TYPES)
def qr_node(xp: ArrayModule, input: Array, *, full_matrices: bool = False) -> tuple[Result, Result]:
    """Unitary q and upper triangular r with `q r = input`.

    `[..., m, n] -> [..., m, k], [..., k, n]` with k the lesser of m and n, or m for full matrices.
    """
    return tuple(xp.linalg.qr(widened(input), mode="complete" if full_matrices else "reduced"))


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Unitary q and upper triangular r with `q r = input`.

    Args:
        input: [..., m, n] tensor of a floating or complex dtype.
        full_matrices: whether q is [..., m, m] and r [..., m, n]; else q is [..., m, p] and r [..., p, n] for the lesser p of
            both.

    Returns:
        `q` and `r`.
    """
    return qr_node(input, full_matrices=full_matrices, name=name)


def _svd_shapes(node: Operation) -> list[Dims]:
    dims = matrices(node.inputs[0])
    if dims is None:
        return [None, None, None]
    rows, columns = dims[-2:]
    least = None if rows is None or columns is None else min(rows, columns)
    if not node.attrs["compute_uv"]:
        return [(*dims[:-2], least), (0,), (0,)]
    if node.attrs["full_matrices"]:
        return [(*dims[:-2], least), (*dims[:-2], rows, rows), (*dims[:-2], columns, columns)]
    return [(*dims[:-2], least), (*dims[:-2], rows, least), (*dims[:-2], columns, least)]


@op("Svd", "input: T -> s: T, u: T, v: T", infer=_svd_shapes, gradient=vjp, types=MATRIX_TYPES)
def svd_node(
    xp: ArrayModule, input: Array, *, compute_uv: bool = True, full_matrices: bool = False
) -> tuple[Result, Result, Result]:
    """The singular values, largest first, and the singular vectors as columns.

    `[..., m, n] -> [..., k], [..., m, k], [..., n, k]` with k the lesser of m and n; full matrices are square, and
    without vectors u and v are `[0]`.
    """
    wide = widened(input)
    if not compute_uv:
        nothing = np.zeros(0, wide.dtype)
        return xp.linalg.svd(wide, compute_uv=False).astype(wide.dtype), nothing, nothing
    u, s, adjoint = xp.linalg.svd(wide, full_matrices=full_matrices)
    return s.astype(wide.dtype), u, adjoint_of(xp, adjoint)


@overload
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: Literal[True] = True, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]: ...
@overload
def svd(tensor: TensorLike, full_matrices: bool = False, *, compute_uv: Literal[False], name: str | None = None) -> Tensor: ...
def svd(
    tensor: TensorLike, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """The singular values `s` of the matrices, and unless `compute_uv` is False, `(s, u, v)`.

    Args:
        tensor: [..., m, n] tensor of a floating or complex dtype.
        full_matrices: whether u is [..., m, m] and v [..., n, n]; else they have p columns, for the lesser p of both.
        compute_uv: whether to return u and v.

    Returns:
        `s`, [..., p], the greatest first; or `(s, u, v)`, with `tensor = u diag(s) v*`.
    """
    s, u, v = svd_node(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    s = real(s)
    return (s, u, v) if compute_uv else s


def _eigen_shapes(node: Operation) -> list[Dims]:
    dims = _square(node.inputs[0])
    vectors = dims if node.attrs["compute_v"] else (0,)
    return [None if dims is None else dims[:-1], vectors]


def _eigen_gradient(node: Operation, of_values: Tensor | None, of_vectors: Tensor | None) -> Gradients:
    """As in TensorFlow, the upper triangle, which is not read, has none, and the lower one has that of both."""
    x = node.inputs[0]
    values, vectors = node.outputs if node.attrs["compute_v"] else self_adjoint_eig_node(x, compute_v=True)
    inner = None if of_values is None else matrix_diag_node(of_values)
    if of_vectors is not None and node.attrs["compute_v"]:
        distances = sub(expand_dims(values, -2), expand_dims(values, -1))
        shares = matrix_set_diag_node(reciprocal(distances), zeros_like(values))
        turned = mul(shares, batch_mat_mul(vectors, of_vectors, adj_x=True))
        inner = turned if inner is None else add(inner, turned)
    if inner is None:
        return [None]
    whole = batch_mat_mul(batch_mat_mul(vectors, inner), vectors, adj_y=True)
    both = matrix_band_part(add(whole, matrix_transpose(whole, conjugate=True)), -1, 0)
    return [matrix_set_diag_node(both, mul(matrix_diag_part_node(both), 0.5))]


@op("SelfAdjointEigV2", "input: T -> e: T, v: T", infer=_eigen_shapes, gradient=_eigen_gradient, types=MATRIX_TYPES)
def self_adjoint_eig_node(xp: ArrayModule, input: Array, *, compute_v: bool = True) -> tuple[Result, Result]:
    """The eigenvalues, least first, and eigenvectors, as columns, of self-adjoint matrices; the lower triangle is read.

    `[..., m, m] -> [..., m], [..., m, m]`; v is `[0]` without vectors.
    """
    wide = widened(input)
    # JAX would read the mean of both triangles.
    told = {} if xp is np else {"symmetrize_input": False}
    if not compute_v:
        return xp.linalg.eigvalsh(wide, **told).astype(wide.dtype), np.zeros(0, wide.dtype)
    values, vectors = xp.linalg.eigh(wide, **told)
    return values.astype(wide.dtype), vectors


def self_adjoint_eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues and eigenvectors of self-adjoint matrices.

    Args:
        tensor: [..., m, m] tensor of a floating or complex dtype, of which the lower triangle is read.

    Returns:
        [..., m] values, in ascending order, and [..., m, m] vectors, one in each column.
    """
    return self_adjoint_eig_node(tensor, compute_v=True, name=name)


def self_adjoint_eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of self-adjoint matrices.

    Args: those of `tf.linalg.eigh`.

    Returns:
        [..., m] values, in ascending order.
    """
    return self_adjoint_eig_node(tensor, compute_v=False, name=name)[0]

"""Functions of matrices that build on decompositions: exponential, square root, logarithm, least squares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import matrix_transpose
from weft.ops.declaration import op
from weft.ops.dispatch import dispatchable
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import (
    MATRIX_TYPES,
    ROWS_OF_BOTH,
    adjoint_of,
    cholesky,
    cholesky_solve,
    eye_like,
    matrices,
    matrix_solve,
    or_invalid,
    square_shape,
    widened,
)
from weft.ops.linalg.matrix_parts import matrix_diag_part_node
from weft.ops.math.complex_numbers import real
from weft.ops.math.elementwise import COMPLEX, add, mul
from weft.ops.math.products import check_inner, matmul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log
from weft.ops.symbolic_gradient import vjp
from weft.platform.imports.jax_modules import jax_linalg, jnp


@op("MatrixExponential", "input: T -> output: T", infer=square_shape, gradient=vjp, types=MATRIX_TYPES, compiled_only=True)
def matrix_exponential(xp: ArrayModule, input: Array) -> Result:
    """The exponentials of the matrices: `[..., m, m] -> [..., m, m]`.

    Args: those of `tf.cholesky`.
    """
    return jax_linalg.expm(jnp.asarray(widened(input)))


def _of_eigenvalues(matrices: Array, function: Callable[[Array], Array]) -> Array:
    """A function of matrices by that of their eigenvalues; NaN for a matrix that has some, or infinities."""
    wide = matrices.astype(np.complex128)
    finite = np.isfinite(wide).all((-2, -1), keepdims=True)
    values, vectors = np.linalg.eig(np.where(finite, wide, np.eye(wide.shape[-1])))
    found = or_invalid(lambda: (vectors * function(values)[..., None, :]) @ np.linalg.inv(vectors))
    return np.where(finite, found, np.nan)


def _root_gradient(node: Operation, grad: Tensor) -> Gradients:
    """The solution X of Sylvester's equation `root* X + X root* = grad`, as one system of linear equations of its elements."""
    root = node.outputs[0]
    dims = shape(root)
    count = dims[-1]
    adjoint = matrix_transpose(root, conjugate=True)
    one = eye_like(root)
    # The elements of `A X B` in a row are `kron(A, B^T)` times those of X.
    left = mul(adjoint[..., :, None, :, None], one[..., None, :, None, :])
    right = mul(one[..., :, None, :, None], matrix_transpose(adjoint)[..., None, :, None, :])
    square_count = mul(count, count)
    system = reshape(add(left, right), concat([dims[:-2], stack([square_count, square_count])], 0))
    column = reshape(grad, concat([dims[:-2], stack([square_count, 1])], 0))
    return [reshape(matrix_solve(system, column), dims)]


@op("MatrixSquareRoot", "input: T -> output: T", infer=square_shape, gradient=_root_gradient, types=MATRIX_TYPES)
def matrix_square_root(ctx: OpContext, input: Array) -> Result:
    """The square roots of the matrices; complex eigenvalues of real matrices are an error.

    `[..., m, m] -> [..., m, m]`.

    Args: those of `tf.cholesky`.
    """
    root = _of_eigenvalues(widened(input), np.sqrt)
    if input.dtype.kind == "c":
        return root
    # A real matrix of a negative eigenvalue has no real root.
    least = np.sqrt(np.finfo(np.float32).eps) * np.abs(root).max((-2, -1), keepdims=True, initial=0)
    return np.where(np.abs(root.imag).max((-2, -1), keepdims=True, initial=0) > least, np.nan, root.real)


@op("MatrixLogarithm", "input: T -> output: T", infer=square_shape, gradient=None, types={"T": COMPLEX})
def matrix_logarithm(ctx: OpContext, input: Array) -> Result:
    """The logarithms of the matrices, which must have a full set of eigenvectors: `[..., m, m] -> [..., m, m]`.

    Args:
        input: [..., m, m] tensor of complex64 or complex128.
    """
    return _of_eigenvalues(input, np.log)


@dispatchable
def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithms of the determinants of positive definite matrices.

    Args:
        matrix: [..., m, m] tensor of a floating or complex dtype.

    Returns:
        [...] tensor; real for complex matrices.
    """
    with input_scope(name, "logdet", (matrix,)):
        diagonal = real(matrix_diag_part_node(cholesky(matrix), name="diag_part"))
        return mul(reduce_sum(log(diagonal), [-1]), 2.0)


def matrix_solve_ls(
    matrix: TensorLike, rhs: TensorLike, l2_regularizer: TensorLike = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The least squares solutions of `matrix X = rhs`, with squares of X weighed by `l2_regularizer`.

    `fast` solves the normal equations by Cholesky; else a complete decomposition is used, which also takes matrices of
    deficient rank.

    Args:
        matrix: [..., m, n] tensor of a floating or complex dtype.
        rhs: [..., m, k] tensor of the same dtype.
        l2_regularizer: float64 scalar.
        fast: whether to solve the normal equations.

    Returns:
        [..., n, k] tensor of the same dtype.
    """
    with input_scope(name, "matrix_solve_ls", (matrix, rhs)):
        matrix = convert_to_tensor(matrix, name="matrix")
        rhs = convert_to_tensor(rhs, matrix.dtype.base_dtype, name="rhs")
        dims = matrix.dims
        rows, columns = (None, None) if dims is None else dims[-2:]
        if not fast or rows is None or columns is None:
            return matrix_solve_ls_node(matrix, rhs, l2_regularizer, fast=fast)
        is_tall = rows >= columns
        gram = matmul(matrix, matrix, adjoint_a=is_tall, adjoint_b=not is_tall)
        if not isinstance(l2_regularizer, int | float) or l2_regularizer:
            gram = add(gram, mul(eye_like(gram), l2_regularizer))
        factor = cholesky(gram)
        if is_tall:
            return cholesky_solve(factor, matmul(matrix, rhs, adjoint_a=True))
        return matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _least_squares_shape(node: Operation) -> list[Dims]:
    matrix, rhs = matrices(node.inputs[0]), matrices(node.inputs[1])
    if matrix is None or rhs is None:
        return [None]
    check_inner(matrix[-2], rhs[-2], ROWS_OF_BOTH)
    batch = merge_dims(matrix[:-2], rhs[:-2])
    return [None if batch is None else (*batch, matrix[-1], rhs[-1])]


def _least_squares_gradient(node: Operation, grad: Tensor) -> Gradients:
    if not node.attrs["fast"]:
        raise ValueError("Gradient not defined for fast=False")
    return vjp(node, grad)


@op("MatrixSolveLs", "matrix: T, rhs: T, l2_regularizer: float64 -> output: T",
    ranks={"l2_regularizer": 0}, infer=_least_squares_shape,
    gradient=_least_squares_gradient, types=MATRIX_TYPES)  # fmt: skip
def matrix_solve_ls_node(xp: ArrayModule, matrix: Array, rhs: Array, l2_regularizer: Array, *, fast: bool = True) -> Result:
    """The least squares solutions of least norm, with squares of the solution weighed by the regularizer.

    `[..., m, n], [..., m, k], scalar -> [..., n, k]`.
    """
    wide = widened(matrix)
    u, s, adjoint = xp.linalg.svd(wide, full_matrices=False)
    weight = xp.asarray(l2_regularizer).astype(s.dtype)
    cutoff = np.finfo(s.dtype).eps * max(wide.shape[-2:]) * s[..., :1]
    inverse = xp.where(s > cutoff, s / xp.where(s > cutoff, s * s + weight, xp.ones_like(s)), xp.zeros_like(s))
    projected = xp.matmul(adjoint_of(xp, u), widened(rhs))
    return xp.matmul(adjoint_of(xp, adjoint), inverse[..., None].astype(wide.dtype) * projected)

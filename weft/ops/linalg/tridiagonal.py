"""Tridiagonal matrices: products with them and solutions of their equations.

They are given by diagonals, in one of three formats: 'compact', `[..., 3, m]` with the diagonal above the main one (its last
element has no meaning), the main one and the one below (its first element has none); 'sequence', those three as a list,
where the outer ones may be `m - 1` long; 'matrix', the whole matrices.
"""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible, merge_dims
from weft.ops.array.filling import zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import matrix_transpose
from weft.ops.declaration import op, rank_of
from weft.ops.input_scope import input_scope
from weft.ops.linalg.matrix_bands import matrix_diag_part
from weft.ops.math.complex_numbers import conj
from weft.ops.math.elementwise import COMPLEX, neg
from weft.ops.math.reduce_functions import reduce_sum


def _solution_shape(node: Operation) -> list[Dims]:
    diagonals, rhs = node.inputs[0].dims, node.inputs[1].dims
    for dims in (diagonals, rhs):
        if dims is not None and len(dims) < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)}")
    if diagonals is None or rhs is None:
        return [rhs]
    if len(diagonals) < 2 or diagonals[-2] not in (3, None):
        raise ValueError(f"Expected diagonals of shape [..., 3, m], but they have {list(diagonals)}")
    return [merge_dims((*diagonals[:-2], diagonals[-1], None), rhs)]


def _solve_gradient(node: Operation, grad: Tensor) -> Gradients:
    diagonals, solution = node.inputs[0], node.outputs[0]
    upper, main, lower = (diagonals[..., row, :] for row in range(3))
    adjoint = conj(stack([_moved(lower, -1), main, _moved(upper, 1)], -2))
    of_rhs = tridiagonal_solve_node(adjoint, grad, partial_pivoting=node.attrs["partial_pivoting"])
    conjugate = conj(solution)
    parts = [reduce_sum(of_rhs * _moved_rows(conjugate, by), -1) for by in (-1, 0, 1)]
    return [neg(stack(parts, -2)), of_rhs]


def _moved(diagonal: Tensor, by: int) -> Tensor:
    """A diagonal whose elements stand one place later (`by` 1) or earlier (-1); a zero fills the end."""
    nothing = zeros_like(diagonal[..., :1])
    return concat([nothing, diagonal[..., :-1]], -1) if by > 0 else concat([diagonal[..., 1:], nothing], -1)


def _moved_rows(x: Tensor, by: int) -> Tensor:
    """As `_moved`, for the rows of a matrix; `by` may be 0."""
    if not by:
        return x
    nothing = zeros_like(x[..., :1, :])
    return concat([nothing, x[..., :-1, :]], -2) if by > 0 else concat([x[..., 1:, :], nothing], -2)


@op("TridiagonalSolve", "diagonals: T, rhs: T -> output: T", infer=_solution_shape, gradient=_solve_gradient,
    types={"T": (dtypes.float64, dtypes.float32, *COMPLEX)})  # fmt: skip
def tridiagonal_solve_node(
    ctx: OpContext, diagonals: Array, rhs: Array, *, partial_pivoting: bool = True, perturb_singular: bool = False
) -> Result:
    """The solutions of equations with tridiagonal matrices: `[..., 3, m], [..., m, k] -> [..., m, k]`."""
    size, width = rhs.shape[-2:]
    if not rhs.size:
        return rhs
    bands = np.moveaxis(diagonals.reshape(-1, 3, size), -1, 0)
    columns = np.moveaxis(rhs.reshape(-1, size, width), 1, 0)
    return np.moveaxis(_solved(bands, columns), 0, 1).astype(rhs.dtype, copy=False).reshape(rhs.shape)


def _solved(bands: Array, rhs: Array) -> Array:
    """Solve many systems, row by row of all: diagonals `[m, systems, 3]`, right sides and solutions `[m, systems, k]`.

    Gaussian elimination that takes the larger of two rows first, as LAPACK's gtsv does: a row of the triangle has up to three
    elements. (SciPy has gtsv; importing it would take a tenth of the time of importing everything else.)
    """
    size = len(bands)
    triangle, right = np.zeros_like(bands), rhs.copy()
    triangle[0, :, :2] = bands[0, :, 1::-1]
    for row in range(size):
        if row + 1 < size:
            above, below = triangle[row], bands[row + 1, :, ::-1]
            is_swapped = (np.abs(below[:, 0]) > np.abs(above[:, 0]))[:, None]
            first, second = np.where(is_swapped, below, above), np.where(is_swapped, above, below)
            heads = np.where(is_swapped, right[row + 1], right[row]), np.where(is_swapped, right[row], right[row + 1])
        else:
            first = triangle[row]
        if not first[:, 0].all():
            raise InvalidArgumentError.of("The tridiagonal matrix is not invertible.")
        triangle[row] = first
        if row + 1 < size:
            factor = second[:, :1] / first[:, :1]
            triangle[row + 1, :, :2] = second[:, 1:] - factor * first[:, 1:]
            right[row], right[row + 1] = heads[0], heads[1] - factor * heads[0]
    for row in reversed(range(size)):
        for beyond in range(1, min(3, size - row)):
            right[row] -= triangle[row, :, beyond, None] * right[row + beyond]
        right[row] /= triangle[row, :, :1]
    return right


# The functions of the API.


def _compact(diagonals: TensorLike, diagonals_format: str) -> Tensor:
    if diagonals_format == "compact":
        tensor = convert_to_tensor(diagonals)
        if tensor.dims is not None and (len(tensor.dims) < 2 or tensor.dims[-2] not in (3, None)):
            raise ValueError(f"Expected diagonals to have shape [..., 3, m], they have {tensor.shape}")
        return tensor
    if diagonals_format == "matrix":
        tensor = convert_to_tensor(diagonals)
        if tensor.dims is not None and (len(tensor.dims) < 2 or not dims_compatible(tensor.dims[-2:-1], tensor.dims[-1:])):
            raise ValueError(f"Expected diagonals to be square matrices [..., m, m], they have shape {tensor.shape}")
        return matrix_diag_part(tensor, k=(-1, 1), padding_value=0, align="LEFT_RIGHT")
    if diagonals_format == "sequence":
        if not isinstance(diagonals, list | tuple) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        upper, main, lower = (convert_to_tensor(each) for each in diagonals)
        return stack([_padded(upper, main, 0, 1), main, _padded(lower, main, 1, 0)], -2)
    raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")


def _padded(outer: Tensor, main: Tensor, before: int, after: int) -> Tensor:
    have, wanted = (None if each.dims is None else each.dims[-1] for each in (outer, main))
    if have is None or wanted is None:
        raise ValueError("The sizes of the diagonals in format 'sequence' must be known, they are not")
    missing = wanted - have
    if missing == 0:
        return outer
    if missing != 1:
        raise ValueError(f"Expected {outer} to be of length {wanted} or one less")
    return pad(outer, [*[[0, 0]] * (len(outer.dims or ()) - 1), [before, after]])


def tridiagonal_solve(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """The solutions X of `A X = rhs` for tridiagonal matrices A.

    Args:
        diagonals: of A, in the format given.
        rhs: `[..., m]` or `[..., m, k]`.
        diagonals_format: 'compact', 'sequence' or 'matrix'; see the module.
        transpose_rhs, conjugate_rhs: what to do with `rhs` first; a vector is not transposed.
        name: a name for the operation.
        partial_pivoting, perturb_singular: have no effect; equations are always solved with pivoting.

    Raises:
        ValueError: the diagonals don't have that format.
        InvalidArgumentError: while running, a matrix has no inverse.
    """
    with input_scope(name, "tridiagonal_solve", (rhs,)):
        compact = _compact(diagonals, diagonals_format)
        right = convert_to_tensor(rhs, compact.dtype.base_dtype)
        is_vector = rank_of(right) is not None and rank_of(right) == (rank_of(compact) or 2) - 1
        if is_vector:
            right = expand_dims(right, -1)
        elif transpose_rhs:
            right = matrix_transpose(right)
        if conjugate_rhs:
            right = conj(right)
        solution = tridiagonal_solve_node(compact, right, partial_pivoting=partial_pivoting)
        return squeeze(solution, [-1]) if is_vector else solution


def tridiagonal_matmul(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The products of tridiagonal matrices with `rhs`, `[..., m, k]`; diagonals as of `tridiagonal_solve`.

    Args:
        diagonals: the upper, main and lower diagonals, in one of the forms that `tridiagonal_solve` takes.
        rhs: [..., m, k] tensor of the same dtype.
        diagonals_format: 'compact', 'sequence' or 'matrix'.

    Returns:
        [..., m, k] tensor of the same dtype.
    """
    with input_scope(name, "tridiagonal_matmul", (rhs,)):
        compact = _compact(diagonals, diagonals_format)
        right = convert_to_tensor(rhs, compact.dtype.base_dtype)
        upper, main, lower = (expand_dims(compact[..., row, :], -1) for row in range(3))
        # The last number above the main diagonal and the first one below it do not count: they may be NaN.
        nothing = zeros_like(right[..., :1, :])
        above = concat([upper[..., :-1, :] * right[..., 1:, :], nothing], -2)
        below = concat([nothing, lower[..., 1:, :] * right[..., :-1, :]], -2)
        return main * right + above + below

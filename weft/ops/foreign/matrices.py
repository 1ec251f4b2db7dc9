"""Products, factors and diagonals of matrices, as earlier or rarer ops have them."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_def import AtLeast
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, broadcast_dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import op
from weft.ops.linalg import matrix_bands as _third_versions  # noqa: F401 - registers them
from weft.ops.linalg.decompositions import widened
from weft.ops.math.elementwise import COMPLEX
from weft.ops.size_checks import check_equal, check_size
from weft.ops.symbolic_gradient import vjp

_LEFT: Final = "LEFT_LEFT"
_FLOATS: Final = (dtypes.float64, dtypes.float32, *COMPLEX)
_PRODUCTS: Final = (
    dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64, dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32,
    dtypes.int64, *COMPLEX,
)  # fmt: skip


_DIAG, _DIAG_PART, _SET_DIAG = (lookup(name) for name in ("MatrixDiagV3", "MatrixDiagPartV3", "MatrixSetDiagV3"))


@op("MatrixDiagV2", "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
    ranks={"num_rows": 0, "num_cols": 0, "padding_value": 0}, infer=_DIAG.infer, gradient=_DIAG.gradient,
    static=("k", "num_rows", "num_cols"))  # fmt: skip
def matrix_diag_v2(
    xp: ArrayModule, diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array
) -> Result:
    """MatrixDiagV3 with short diagonals to the left.

    `[..., diagonals, length], [2], scalar, scalar, scalar -> [..., m, n]`, or a scalar `k` and `[..., length]`.
    """
    return _DIAG.kernel(xp, diagonal, k, num_rows, num_cols, padding_value, align=_LEFT)


@op("MatrixDiagPartV2", "input: T, k: int32, padding_value: T -> diagonal: T",
    infer=_DIAG_PART.infer, gradient=_DIAG_PART.gradient, static=("k",))  # fmt: skip
def matrix_diag_part_v2(xp: ArrayModule, input: Array, k: Array, padding_value: Array) -> Result:
    """MatrixDiagPartV3 with short diagonals to the left.

    `[..., m, n], [2], scalar -> [..., diagonals, length]`, or `[..., length]` for one diagonal.
    """
    return _DIAG_PART.kernel(xp, input, k, padding_value, align=_LEFT)


@op("MatrixSetDiagV2", "input: T, diagonal: T, k: int32 -> output: T", infer=_SET_DIAG.infer,
    gradient=_SET_DIAG.gradient, static=("k",))  # fmt: skip
def matrix_set_diag_v2(xp: ArrayModule, input: Array, diagonal: Array, k: Array) -> Result:
    """MatrixSetDiagV3 with short diagonals to the left.

    `[..., m, n], [..., diagonals, length], [2] -> [..., m, n]`, or `[..., length]` for one diagonal.
    """
    return _SET_DIAG.kernel(xp, input, diagonal, k, align=_LEFT)


def _like_last(node: Operation) -> list[Dims]:
    for diagonal in node.inputs[:3]:
        check_size(diagonal, -2, 1)
        check_equal(diagonal, -1, node.inputs[3], -2)
    return [node.inputs[-1].dims]


@op("TridiagonalMatMul", "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T", infer=_like_last, gradient=vjp,
    types={"T": _FLOATS},
    ranks=dict.fromkeys(("superdiag", "maindiag", "subdiag", "rhs"), AtLeast(2)))  # fmt: skip
def tridiagonal_matmul(xp: ArrayModule, superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array) -> Result:
    """Products with matrices of three diagonals; the last number above and the first below the main one do not count.

    `[..., 1, m], [..., 1, m], [..., 1, m], [..., m, n] -> [..., m, n]`
    """
    above, middle, below = (xp.swapaxes(each, -1, -2) for each in (superdiag, maindiag, subdiag))
    if rhs.shape[-2] != middle.shape[-2]:
        raise InvalidArgumentError.of(f"rhs has {rhs.shape[-2]} rows, the diagonals have {middle.shape[-2]} numbers")
    zero = xp.zeros_like(rhs[..., :1, :])
    # Numbers that do not count may be NaN.
    from_next = xp.concatenate([above[..., :-1, :] * rhs[..., 1:, :], zero], axis=-2)
    from_before = xp.concatenate([zero, below[..., 1:, :] * rhs[..., :-1, :]], axis=-2)
    return middle * rhs + from_next + from_before


def _product_shape(node: Operation) -> list[Dims]:
    a, b = (each.dims for each in node.inputs)
    for dims in (a, b):
        if dims is not None and len(dims) != 2:
            raise ValueError(f"Shape must be rank 2 but is rank {len(dims)}")
    rows = None if a is None else a[1 if node.attrs["transpose_a"] else 0]
    columns = None if b is None else b[0 if node.attrs["transpose_b"] else 1]
    inner = (a and a[0 if node.attrs["transpose_a"] else 1], b and b[1 if node.attrs["transpose_b"] else 0])
    if None not in inner and a and b and inner[0] != inner[1]:
        raise ValueError(f"Dimensions must be equal, but are {inner[0]} and {inner[1]}")
    return [(rows, columns)]


@op("SparseMatMul", "a: Ta, b: Tb -> product: float", infer=_product_shape, gradient=vjp,
    types={"Ta": (dtypes.float32, dtypes.bfloat16), "Tb": (dtypes.float32, dtypes.bfloat16)},
    defaults={"Ta": dtypes.float32, "Tb": dtypes.float32})  # fmt: skip
def sparse_matmul(
    xp: ArrayModule, a: Array, b: Array, *, transpose_a: bool = False, transpose_b: bool = False, a_is_sparse: bool = False,
    b_is_sparse: bool = False,
) -> Result:  # fmt: skip
    """The product of two matrices of which one may have many zeros: `[m, k], [k, n] -> [m, n]`, before transposing."""
    left, right = a.astype(np.float32), b.astype(np.float32)
    left, right = left.T if transpose_a else left, right.T if transpose_b else right
    if left.shape[1] != right.shape[0]:
        raise InvalidArgumentError.of(f"Matrix size incompatible: a: {list(a.shape)}, b: {list(b.shape)}")
    return left @ right


def _batch_shape(node: Operation) -> list[Dims]:
    x, y = (each.dims for each in node.inputs)
    if x is None or y is None:
        return [None]
    if min(len(x), len(y)) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {min(len(x), len(y))}")
    rows, columns = x[-1] if node.attrs["adj_x"] else x[-2], y[-2] if node.attrs["adj_y"] else y[-1]
    return [(*(broadcast_dims(x[:-2], y[:-2]) or ()), rows, columns)]


@op("BatchMatMulV3", "x: Ta, y: Tb -> output: Tout", infer=_batch_shape, gradient=vjp,
    types={"Ta": _PRODUCTS, "Tb": _PRODUCTS, "Tout": _PRODUCTS})  # fmt: skip
def batch_matmul_v3(
    xp: ArrayModule, x: Array, y: Array, *, Tout: DType, adj_x: bool = False, adj_y: bool = False, grad_x: bool = False,
    grad_y: bool = False,
) -> Result:  # fmt: skip
    """Products of matrices in another type than theirs: `[..., m, k], [..., k, n] -> [..., m, n]`, before transposing."""
    left, right = (each.astype(Tout.as_numpy_dtype) for each in (x, y))
    left = xp.swapaxes(xp.conj(left), -1, -2) if adj_x else left
    right = xp.swapaxes(xp.conj(right), -1, -2) if adj_y else right
    return xp.matmul(left, right)


def _eigen_shapes(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    return [None if dims is None else dims[:-1], dims if node.attrs["compute_v"] else (0,)]


@op("Eig", "input: T -> e: Tout, v: Tout", infer=_eigen_shapes, gradient=None, types={"T": _FLOATS, "Tout": COMPLEX})
def eig(ctx: OpContext, input: Array, *, Tout: DType, compute_v: bool = True) -> tuple[Result, Result]:
    """The eigenvalues of any square matrices, and vectors: `[..., n, n] -> [..., n], [..., n, n]`."""
    if input.ndim < 2 or input.shape[-1] != input.shape[-2]:
        raise InvalidArgumentError.of(f"Input matrix must be square, got {list(input.shape)}")
    kind = Tout.as_numpy_dtype
    if not compute_v:
        return np.linalg.eigvals(input).astype(kind), np.zeros(0, kind)
    values, vectors = np.linalg.eig(input)
    return values.astype(kind), vectors.astype(kind)


def _cholesky_shape(node: Operation) -> list[Dims]:
    factor, grad = node.inputs
    check_equal(factor, -2, factor, -1)
    return [merge_dims(factor.dims, grad.dims)]


def _inverse(lower: Array) -> Array:
    """The inverses of lower triangular matrices, row by row; singular ones have infinities and NaN, as TensorFlow's have."""
    size = lower.shape[-1]
    made = np.broadcast_to(np.eye(size, dtype=lower.dtype), lower.shape).copy()
    with np.errstate(all="ignore"):
        for row in range(size):
            made[..., row, :] -= (lower[..., row, None, :row] @ made[..., :row, :])[..., 0, :]
            made[..., row, :] /= lower[..., row, row, None]
    return made


@op("CholeskyGrad", "l: T, grad: T -> output: T", infer=_cholesky_shape, gradient=None,
    types={"T": (dtypes.float16, dtypes.float32, dtypes.float64)}, ranks={"l": AtLeast(2), "grad": AtLeast(2)})  # fmt: skip
def cholesky_grad(xp: ArrayModule, l: Array, grad: Array) -> Result:  # noqa: E741
    """The gradient of Cholesky for its symmetric input: `[..., n, n], [..., n, n] -> [..., n, n]`."""
    lower = xp.tril(widened(l))
    middle = xp.tril(xp.matmul(xp.swapaxes(lower, -1, -2), xp.tril(widened(grad))))
    size = lower.shape[-1]
    middle = middle * (1 - 0.5 * xp.eye(size, dtype=lower.dtype))
    inverse = _inverse(lower) if xp is np else xp.linalg.inv(lower)
    whole = xp.matmul(xp.matmul(xp.swapaxes(inverse, -1, -2), middle), inverse)
    return (0.5 * (whole + xp.swapaxes(whole, -1, -2))).astype(l.dtype)

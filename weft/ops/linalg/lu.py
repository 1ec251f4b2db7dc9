"""Decompositions into triangles, what they solve, and pseudo-inverses and ranks, which singular values tell."""

from __future__ import annotations

import importlib
from typing import NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.selection import where_v2
from weft.ops.array.sequences import argsort
from weft.ops.array.shape_ops import INDEX, expand_dims, reshape, shape_internal
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import broadcast_dynamic_shape, broadcast_static_shape, broadcast_to
from weft.ops.declaration import op, rank_of
from weft.ops.input_scope import input_scope
from weft.ops.linalg.decompositions import matrix_triangular_solve, svd, widened
from weft.ops.linalg.matrix_parts import matrix_band_part, matrix_set_diag_node
from weft.ops.linalg.norms import norm
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, maximum
from weft.ops.math.elementwise import COMPLEX
from weft.ops.math.products import matmul
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.symbolic_gradient import vjp
from weft.ops.traced_checks import note_wrong
from weft.platform.imports.jax_modules import jax, jnp


class Lu(NamedTuple):
    """Both triangles in one matrix, the units of the lower one left out, and the permutation of the rows."""

    lu: Tensor
    p: Tensor


def _lu_shapes(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is None:
        return [None, None]
    if len(dims) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)}")
    if None not in dims[-2:] and dims[-2] != dims[-1]:
        raise ValueError(f"Dimensions must be equal, but are {dims[-2]} and {dims[-1]}")
    return [dims, dims[:-1]]


@op("Lu", "input: T -> lu: T, p: output_idx_type", infer=_lu_shapes, gradient=vjp, checks_traced=True,
    types={"T": (dtypes.float64, dtypes.float32, dtypes.float16, *COMPLEX), "output_idx_type": INDEX})  # fmt: skip
def lu_node(xp: ArrayModule, input: Array, *, output_idx_type: DType = dtypes.int32) -> tuple[Result, Result]:
    """The triangles of the matrices with permuted rows, and the permutations.

    `[..., m, m] -> [..., m, m], [..., m]`.
    """
    if xp is np:
        triangles, permutation = _factors(widened(input))
        _check_pivots(triangles)
    else:
        triangles, _, permutation = jax.lax.linalg.lu(jnp.asarray(widened(input)))
        note_wrong(xp.any(_is_singular(xp, triangles)))
    return triangles, permutation


def _factors(matrices: Array) -> tuple[Array, Array]:
    """LAPACK's decomposition of each matrix."""
    size = matrices.shape[-1]
    triangles = matrices.copy()
    permutation = np.broadcast_to(np.arange(size, dtype=np.int32), matrices.shape[:-1]).copy()
    if not matrices.size:
        return triangles, permutation
    decompose = importlib.import_module("scipy.linalg").get_lapack_funcs("getrf", (matrices,))
    for place in np.ndindex(matrices.shape[:-2]):
        triangles[place], swaps, _ = decompose(matrices[place])
        order = permutation[place]
        for row, other in enumerate(swaps):
            order[[row, other]] = order[[other, row]]
    return triangles, permutation


def _is_singular(xp: ArrayModule, triangles: Array) -> Array:
    """Which of the matrices have a pivot that is no positive number: `[..., m, m] -> [...]`."""
    return ~xp.all(xp.abs(xp.diagonal(triangles, axis1=-2, axis2=-1)) > 0, axis=-1)


def _check_pivots(triangles: Array) -> None:
    is_singular = _is_singular(np, triangles)
    if is_singular.any():
        place = np.argwhere(is_singular)[0].tolist()
        raise InvalidArgumentError.of(f"Input is not invertible.{f' It is the matrix at {place}.' if place else ''}")


def lu(input: TensorLike, output_idx_type: DTypeLike = dtypes.int32, name: str | None = None) -> Lu:
    """Decompose matrices `[..., m, m]`: their rows, in the order of `p`, are the product of a lower and an upper triangle.

    Args:
        input: [..., m, m] tensor of a floating or complex dtype: matrices that have inverses.
        output_idx_type: int32 or int64, the dtype of `p`.

    Returns:
        A pair `lu` (the lower triangle, which has ones on its diagonal, below the diagonal, the upper one on and above it)
        and `p`, `[..., m]`.

    Raises:
        InvalidArgumentError: in a run, a matrix has a pivot of zero.
    """
    return Lu(*lu_node(input, output_idx_type=output_idx_type, name=name))


def _permuted(x: Tensor, order: Tensor) -> Tensor:
    """The rows of matrices in these orders; batches are broadcast."""
    if x.dims is not None and order.dims is not None and None not in x.dims[:-2] and x.dims[:-2] == order.dims[:-1]:
        return gather(x, order, batch_dims=len(order.dims) - 1, axis=len(order.dims) - 1)
    sizes = shape_internal(x)
    whole = concat([broadcast_dynamic_shape(sizes[:-2], shape_internal(order)[:-1]), sizes[-2:]], 0)
    # How many dimensions a batch has may only be known in a run: they are gathered as one.
    rows = reshape(broadcast_to(x, whole), concat([[-1], sizes[-2:]], 0))
    places = reshape(broadcast_to(order, whole[:-1]), stack([-1, sizes[-2]]))
    found = reshape(gather(rows, places, batch_dims=1, axis=1), whole)
    if x.dims is not None and order.dims is not None:
        found.set_shape(broadcast_static_shape(x.shape[:-2], order.shape[:-1]).concatenate(x.shape[-2:]))
    return found


def _unit_lower(triangles: Tensor) -> Tensor:
    below = matrix_band_part(triangles, -1, 0)
    return matrix_set_diag_node(below, ones_like(triangles[..., 0]))


def lu_solve(
    lower_upper: TensorLike, perm: TensorLike, rhs: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The solutions X of `A X = rhs`, given the decomposition of A.

    Args:
        lower_upper, perm: what `lu` gave for `[..., m, m]`.
        rhs: `[..., m, k]`.
        validate_args: has no effect; shapes are checked where they are known.
        name: a name for the operation.
    """
    with input_scope(name, "lu_solve", (lower_upper, perm, rhs)):
        triangles = convert_to_tensor(lower_upper, name="lower_upper")
        order = convert_to_tensor(perm, dtypes.int32, name="perm")
        right = convert_to_tensor(rhs, triangles.dtype.base_dtype, name="rhs")
        first = matrix_triangular_solve(_unit_lower(triangles), _permuted(right, order), lower=True)
        return matrix_triangular_solve(triangles, first, lower=False)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverses of the matrices that `lu` decomposed; arguments as of `lu_solve`.

    Args:
        lower_upper: [..., m, m] tensor, as `lu` returned it.
        perm: [..., m] int32, as `lu` returned it.
        validate_args: whether to check the two in each step.

    Returns:
        [..., m, m] tensor of the dtype of `lower_upper`.
    """
    with input_scope(name, "lu_matrix_inverse", (lower_upper, perm)):
        triangles = convert_to_tensor(lower_upper, name="lower_upper")
        identity = matrix_set_diag_node(zeros_like(triangles), ones_like(triangles[..., 0]))
        return lu_solve(triangles, perm, identity)


def lu_reconstruct(lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The matrices that `lu` decomposed; arguments as of `lu_solve`.

    Args: those of `tf.linalg.lu_matrix_inverse`.

    Returns:
        [..., m, m] tensor of the dtype of `lower_upper`.
    """
    with input_scope(name, "lu_reconstruct", (lower_upper, perm)):
        triangles = convert_to_tensor(lower_upper, name="lower_upper")
        order = convert_to_tensor(perm, dtypes.int32, name="perm")
        product = matmul(_unit_lower(triangles), matrix_band_part(triangles, 0, -1))
        return _permuted(product, argsort(order))


# What singular values tell.


def _precision(dtype: DType) -> float:
    return float(np.finfo(dtype.as_numpy_dtype).eps)


def _larger_size(tensor: Tensor, kind: DType) -> Tensor | float:
    rows, columns = (None, None) if tensor.dims is None else tensor.dims[-2:]
    if rows is not None and columns is not None:
        return float(max(rows, columns))
    return cast(reduce_max(shape_internal(tensor)[-2:]), kind)


def matrix_rank(a: TensorLike, tol: TensorLike | None = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """How many singular values of each matrix are greater than `tol`.

    Args:
        a: `[..., m, n]` floats.
        tol: the threshold; by default the largest singular value times the larger size times the type's precision.
        validate_args: has no effect.
        name: a name for the operation.
    """
    with input_scope(name, "matrix_rank", (a, tol)):
        tensor = _of_floats(a)
        values = svd(tensor, compute_uv=False)
        if tol is None:
            kind = values.dtype.base_dtype
            tol = reduce_max(values, -1, keepdims=True) * _larger_size(tensor, kind) * _precision(kind)
        return reduce_sum(cast(greater(values, tol), dtypes.int32), -1)


def _of_floats(a: TensorLike) -> Tensor:
    tensor = convert_to_tensor(a, name="a")
    if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {tensor.dtype.name}).")
    rank = rank_of(tensor)
    if rank is not None and rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {rank}).")
    return tensor


def pinv(a: TensorLike, rcond: TensorLike | None = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The Moore-Penrose pseudo-inverses of matrices.

    Args:
        a: `[..., m, n]` floats.
        rcond: singular values that are not greater than this part of the largest one count as zeros; by default ten times
            the larger size times the type's precision.
        validate_args: has no effect.
        name: a name for the operation.
    """
    with input_scope(name, "pinv", (a, rcond)):
        tensor = _of_floats(a)
        s, u, v = svd(tensor, full_matrices=False, compute_uv=True)
        kind = s.dtype.base_dtype
        part = _larger_size(tensor, kind) * 10.0 * _precision(kind) if rcond is None else convert_to_tensor(rcond, kind)
        cutoff = part * reduce_max(s, -1)
        kept = where_v2(
            greater(s, expand_dims(maximum(cutoff, zeros_like(cutoff)), -1)), s, np.array(np.inf, kind.as_numpy_dtype)
        )
        scaled = v / cast(expand_dims(kept, -2), v.dtype)
        return matmul(scaled, u, adjoint_b=True)


def normalize(
    tensor: TensorLike, ord: str | float = "euclidean", axis: TensorLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """`tensor` divided by its norm along `axis`, and that norm, whose dimensions stay as ones; `ord` as of `norm`.

    Args:
        tensor: [...] tensor of a floating or complex dtype.
        ord: the kind of norm: 'euclidean', 'fro' (of matrices), a number, or `np.inf`.
        axis: a dimension for vectors, two for matrices; None for all elements as one vector.
    """
    with input_scope(name, "normalize", (tensor,)):
        values = convert_to_tensor(tensor)
        length = norm(values, ord, axis, keepdims=True)
        return values / cast(length, values.dtype), length

"""Bands and diagonals of matrices: taking them out, putting them in, and matrices made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import BuildMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.array.filling import ones, zeros, zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import INDEX, reshape
from weft.ops.declaration import op
from weft.ops.dispatch import dispatchable
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import minimum
from weft.ops.math.elementwise import COMPLEX, FLOATS
from weft.ops.math.reduce_functions import reduce_sum

_DIAGONAL_TYPES = (*FLOATS, dtypes.int32, dtypes.int64, *COMPLEX)


def _at_least(tensor: Tensor, rank: int) -> Dims:
    dims = tensor.dims
    if dims is not None and len(dims) < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {len(dims)}")
    return dims


def _smaller(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return 0 if 0 in (a, b) else None
    return min(a, b)


# Bands.


def _band_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [matrix_band_part(grad, node.inputs[1], node.inputs[2]), None, None]


def _band_shape(node: Operation) -> list[Dims]:
    return [_at_least(node.inputs[0], 2)]


@op("MatrixBandPart", "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    ranks={"num_lower": 0, "num_upper": 0},
    infer=_band_shape,
    gradient=_band_gradient, types={"Tindex": INDEX}, defaults={"Tindex": dtypes.int64})  # fmt: skip
def matrix_band_part(xp: ArrayModule, input: Array, num_lower: Array, num_upper: Array) -> Result:
    """The matrices with zeros outside a band of diagonals; a negative number keeps that whole triangle.

    `[..., m, n], scalar, scalar -> [..., m, n]`.

    Args:
        input: [..., m, n] tensor of any dtype.
        num_lower, num_upper: scalars of int32 or int64: how many diagonals to keep below and above the main one.
    """
    for name, count, size in (("num_lower", num_lower, input.shape[-2]), ("num_upper", num_upper, input.shape[-1])):
        if xp is np and count > size:
            what = "rows" if name == "num_lower" else "columns"
            raise InvalidArgumentError.of(f"{name} must be negative or less or equal to number of {what} ({size}) got: {count}")
    offset = np.arange(input.shape[-2])[:, None] - np.arange(input.shape[-1])[None, :]
    inside = ((num_lower < 0) | (offset <= num_lower)) & ((num_upper < 0) | (-offset <= num_upper))
    return xp.where(inside, input, xp.zeros_like(input))


# Diagonals of batches of matrices.


def _as_matrix(node: Operation) -> list[Dims]:
    dims = _at_least(node.inputs[0], 1)
    return [None if dims is None else (*dims, dims[-1])]


def _matrix_diag_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [matrix_diag_part_node(grad)]


@op("MatrixDiag", "diagonal: T -> output: T", infer=_as_matrix,
    gradient=_matrix_diag_gradient)  # fmt: skip
def matrix_diag_node(xp: ArrayModule, diagonal: Array) -> Result:
    """Matrices that are zero but for the diagonals given: `[..., m] -> [..., m, m]`."""
    size = diagonal.shape[-1]
    return xp.where(np.eye(size, dtype=bool), diagonal[..., None, :], xp.zeros_like(diagonal)[..., None, :])


def _as_diagonal(node: Operation) -> list[Dims]:
    dims = _at_least(node.inputs[0], 2)
    return [None if dims is None else (*dims[:-2], _smaller(dims[-2], dims[-1]))]


def _diag_part_gradient(node: Operation, grad: Tensor) -> Gradients:
    dims = node.inputs[0].dims
    if dims is not None and dims[-1] is not None and dims[-1] == dims[-2]:
        return [matrix_diag_node(grad)]
    return [matrix_set_diag_node(zeros_like(node.inputs[0]), grad)]


@op("MatrixDiagPart", "input: T -> diagonal: T", infer=_as_diagonal, gradient=_diag_part_gradient)
def matrix_diag_part_node(xp: ArrayModule, input: Array) -> Result:
    """The diagonals of the matrices: `[..., m, n] -> [..., k]` with k the lesser of m and n."""
    size = min(input.shape[-2:])
    return input[..., np.arange(size), np.arange(size)]


def _set_diag_shape(node: Operation) -> list[Dims]:
    dims, diagonal = _at_least(node.inputs[0], 2), _at_least(node.inputs[1], 1)
    if dims is not None and diagonal is not None:
        merge_dims((*dims[:-2], _smaller(dims[-2], dims[-1])), diagonal)
    return [dims]


def _set_diag_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [matrix_set_diag_node(grad, zeros_like(node.inputs[1])), matrix_diag_part_node(grad)]


@op("MatrixSetDiag", "input: T, diagonal: T -> output: T", infer=_set_diag_shape, gradient=_set_diag_gradient)
def matrix_set_diag_node(xp: ArrayModule, input: Array, diagonal: Array) -> Result:
    """The matrices with other diagonals: `[..., m, n], [..., k] -> [..., m, n]` with k the lesser of m and n."""
    rows, columns = input.shape[-2:]
    if diagonal.shape != (*input.shape[:-2], min(rows, columns)):
        message = f"must have diagonal of shape {(*input.shape[:-2], min(rows, columns))}, but it is {diagonal.shape}"
        raise InvalidArgumentError.of(message)
    if not rows or not columns:
        return input
    placed = xp.take(diagonal, np.minimum(np.arange(columns), max(min(rows, columns) - 1, 0)), axis=-1)
    return xp.where(np.eye(rows, columns, dtype=bool), placed[..., None, :], input)


# Diagonals of whole tensors.


def _doubled(node: Operation) -> list[Dims]:
    dims = _at_least(node.inputs[0], 1)
    return [None if dims is None else dims + dims]


def _tensor_diag_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [tensor_diag_part(grad)]


@op("Diag", "diagonal: T -> output: T", infer=_doubled, gradient=_tensor_diag_gradient,
    types={"T": _DIAGONAL_TYPES})  # fmt: skip
def tensor_diag(xp: ArrayModule, diagonal: Array) -> Result:
    """A tensor of twice the rank that is zero but where both halves of the position are equal.

    `[*sizes] -> [*sizes, *sizes]`.

    Args:
        diagonal: [*sizes] tensor of a floating or complex dtype, of int32 or int64.
    """
    flat = xp.reshape(diagonal, (-1,))
    return xp.reshape(xp.diag(flat), diagonal.shape + diagonal.shape)


def _halved(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    if dims is None:
        return [None]
    if not dims:
        raise BuildMisfit("Input must have even and non-zero rank, input rank is 0", "A scalar has no diagonal.")
    if len(dims) % 2:
        raise ValueError(f"Input must have even and non-zero rank, input rank is {len(dims)}")
    return [merge_dims(dims[: len(dims) // 2], dims[len(dims) // 2 :])]


@op("DiagPart", "input: T -> diagonal: T", infer=_halved, gradient=lambda node, grad: [tensor_diag(grad)],
    types={"T": _DIAGONAL_TYPES})  # fmt: skip
def tensor_diag_part(xp: ArrayModule, input: Array) -> Result:
    """The elements where both halves of the position are equal: `[*sizes, *sizes] -> [*sizes]`.

    Args:
        input: [*sizes, *sizes] tensor of a floating or complex dtype, of int32 or int64.
    """
    half = input.shape[: input.ndim // 2]
    size = int(np.prod(half))
    return xp.reshape(xp.diagonal(xp.reshape(input, (size, size))), half)


# The functions of the API.


@dispatchable
def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sums of the diagonals of the matrices.

    Args:
        x: [..., m, n] tensor of a numeric dtype.

    Returns:
        [...] tensor of the same dtype.
    """
    with input_scope(name, "Trace", (x,)) as scope:
        return reduce_sum(matrix_diag_part_node(convert_to_tensor(x, name="x"), name="diag_part"), [-1], name=scope)


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    batch_shape: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A unit matrix, or a batch of them.

    Args:
        num_rows: int32 scalar.
        num_columns: int32 scalar; `num_rows` when None.
        batch_shape: the sizes of the batch, a list or [k] int32; None for a single matrix.
        dtype: the dtype of the result.

    Returns:
        [*batch_shape, num_rows, num_columns] tensor of `dtype`.

    Raises:
        TypeError: a size is no whole number.
    """
    with input_scope(name, "eye", (num_rows, num_columns, batch_shape)):
        is_square = num_columns is None
        tensors = [isinstance(each, Tensor) for each in ((num_rows,) if is_square else (num_rows, num_columns))]
        if any(tensors) or isinstance(batch_shape, Tensor):
            # TensorFlow joins batch and sizes in the step, known or not; later random nodes get their seeds by the count.
            count = 6 + any(tensors) if is_square else 12 + 2 * (not all(tensors)) if any(tensors) else 11
            with get_default_graph().node_count.as_many_as(count + (not isinstance(batch_shape, Tensor))):
                return _eye(num_rows, num_columns, batch_shape, dtype)
        return _eye(num_rows, num_columns, batch_shape, dtype)


def _eye(num_rows: Array, num_columns: Array | None, batch_shape: Array, dtype: DTypeLike) -> Tensor:
    is_square = num_columns is None
    columns = num_rows if is_square else num_columns
    known = [_known_size(size) for size in (num_rows, columns)]
    if None not in known and (batch_shape is None or not isinstance(batch_shape, Tensor)):
        return _plain_eye(known, () if batch_shape is None else as_dims(batch_shape), is_square, dtype)
    rows = cast(convert_to_tensor(num_rows, name="num_rows"), dtypes.int32)
    columns = cast(convert_to_tensor(columns, name="num_columns"), dtypes.int32)
    batch = convert_to_tensor([] if batch_shape is None else batch_shape, dtypes.int32, name="shape")
    if is_square:
        diagonal = ones(concat([batch, reshape(rows, [1])], 0), dtype)
        return matrix_diag_node(diagonal, name="diag")
    diagonal = ones(concat([batch, reshape(minimum(rows, columns), [1])], 0), dtype)
    sizes = concat([batch, reshape(rows, [1]), reshape(columns, [1])], 0)
    return matrix_set_diag_node(zeros(sizes, dtype), diagonal, name="set_diag")


def _known_size(size: Array) -> int | None:
    if isinstance(size, Tensor):
        value = constant_value(size)
        return None if value is None else int(value)
    if not hasattr(type(size), "__index__"):
        raise TypeError(f"num_rows and num_columns must be positive integer values, got {size!r}.")
    return int(size)


def _plain_eye(sizes: Sequence[Array], batch: Array, is_square: bool, dtype: DTypeLike) -> Tensor:
    rows, columns = sizes
    diagonal = ones((*batch, min(rows, columns)), dtype)
    if is_square or rows == columns:
        return matrix_diag_node(diagonal, name="diag")
    return matrix_set_diag_node(zeros((*batch, rows, columns), dtype), diagonal, name="set_diag")

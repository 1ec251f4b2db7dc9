"""Sums over segments of rows that are gathered by index first, as embedding lookups use them: SparseSegmentSum ..."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.ops.array.gather_scatter import gather_v2_node
from weft.ops.array.row_order import accumulate_rows
from weft.ops.array.shape_ops import shape_internal
from weft.ops.array.slicing import strided_slice
from weft.ops.declaration import op, rank_of
from weft.ops.math.elementwise import FLOATS, REAL
from weft.ops.math.segment import segment_count, unsorted_segment_sum

_INDEX = (dtypes.int32, dtypes.int64)
_TYPES = {"Tidx": _INDEX, "Tsegmentids": _INDEX}
_DEFAULTS = {"Tidx": dtypes.int32, "Tsegmentids": dtypes.int32}
_COUNTED_TYPES = {**_TYPES, "Tnumsegments": _INDEX}
_COUNTED_DEFAULTS = {**_DEFAULTS, "Tnumsegments": dtypes.int32}
_SIGNATURE = "data: T, indices: Tidx, segment_ids: Tsegmentids -> output: T"
_COUNTED = "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments -> output: T"
_GRADIENT = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32 -> output: T"


def _shape(node: Operation) -> list[Dims]:
    data, _, ids = node.inputs[:3]
    if rank_of(ids) not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {rank_of(ids)}")
    merge_dims(node.inputs[1].dims, ids.dims)
    if data.dims is None:
        return [None]
    if len(node.inputs) == 4:
        known = constant_value(node.inputs[3])
        if known is not None and known < 0:
            raise ValueError(f"Cannot specify a negative value for num_segments: {int(known)}")
        return [(None if known is None else int(known), *data.dims[1:])]
    return [(None, *data.dims[1:])]


def _weights(segment_ids: Array, count: int, power: float) -> Array:
    sizes = np.maximum(np.bincount(segment_ids, minlength=count), 1)
    return sizes.astype(np.float64) ** -power


def _reduced(data: Array, indices: Array, segment_ids: Array, num_segments: Array, power: float) -> Array:
    """Sums of gathered rows, each divided by the number of rows to the power given."""
    for place in np.flatnonzero((indices < 0) | (indices >= data.shape[0]))[:1].tolist():
        raise InvalidArgumentError.of(f"Bad: indices[{place}] == {indices[place]} out of range [0, {data.shape[0]})")
    count = segment_count(segment_ids, None if num_segments is None else int(num_segments))
    result = np.zeros((count, *data.shape[1:]), data.dtype)
    accumulate_rows(np.add, result, segment_ids, data[indices])
    if power:
        weights = _weights(segment_ids, count, power).astype(data.dtype)
        result *= weights.reshape((-1,) + (1,) * (data.ndim - 1))
    return result


def _first_size(tensor: Tensor) -> Array:
    dims = tensor.dims
    if dims is not None and dims[0] is not None:
        return np.int32(dims[0])
    return strided_slice(shape_internal(tensor), [0], [1], shrink_axis_mask=1)


def _sum_gradient(node: Operation, grad: Tensor) -> Gradients:
    data, indices, ids = node.inputs[:3]
    rows = gather_v2_node(grad, ids, 0)
    return [unsorted_segment_sum(rows, indices, _first_size(data)), *[None] * (len(node.inputs) - 1)]


@op("SparseSegmentSum", _SIGNATURE,
    ranks={"indices": 1, "data": AtLeast(1)}, infer=_shape, gradient=_sum_gradient, types={"T": REAL, **_TYPES},
    defaults=_DEFAULTS)  # fmt: skip
def sparse_segment_sum_node(
    ctx: OpContext, data: Array, indices: Array, segment_ids: Array, *, sparse_gradient: bool = False
) -> Result:
    """For each segment, the sum of the rows of `data` at its indices.

    `[rows, *inner], [n], [n] -> [segments, *inner]`
    """
    return _reduced(data, indices, segment_ids, None, 0)


@op("SparseSegmentSumWithNumSegments", _COUNTED,
    ranks={"indices": 1, "num_segments": 0, "data": AtLeast(1)}, infer=_shape, gradient=_sum_gradient,
    types={"T": REAL, **_COUNTED_TYPES}, defaults=_COUNTED_DEFAULTS)  # fmt: skip
def sparse_segment_sum_counted(
    ctx: OpContext, data: Array, indices: Array, segment_ids: Array, num_segments: Array, *, sparse_gradient: bool = False
) -> Result:
    """SparseSegmentSum with the number of segments given.

    `[rows, *inner], [n], [n], scalar -> [segments, *inner]`
    """
    return _reduced(data, indices, segment_ids, num_segments, 0)


def _mean_gradient(node: Operation, grad: Tensor) -> Gradients:
    data, indices, ids = node.inputs[:3]
    first = sparse_segment_mean_grad(grad, indices, ids, _first_size(data))
    return [first, *[None] * (len(node.inputs) - 1)]


@op("SparseSegmentMean", _SIGNATURE,
    ranks={"indices": 1, "data": AtLeast(1)}, infer=_shape, gradient=_mean_gradient, types={"T": FLOATS, **_TYPES},
    defaults=_DEFAULTS)  # fmt: skip
def sparse_segment_mean_node(
    ctx: OpContext, data: Array, indices: Array, segment_ids: Array, *, sparse_gradient: bool = False
) -> Result:
    """For each segment, the mean of the rows of `data` at its indices.

    `[rows, *inner], [n], [n] -> [segments, *inner]`
    """
    return _reduced(data, indices, segment_ids, None, 1)


@op("SparseSegmentMeanWithNumSegments", _COUNTED,
    ranks={"indices": 1, "num_segments": 0, "data": AtLeast(1)}, infer=_shape, gradient=_mean_gradient,
    types={"T": FLOATS, **_COUNTED_TYPES}, defaults=_COUNTED_DEFAULTS)  # fmt: skip
def sparse_segment_mean_counted(
    ctx: OpContext, data: Array, indices: Array, segment_ids: Array, num_segments: Array, *, sparse_gradient: bool = False
) -> Result:
    """SparseSegmentMean with the number of segments given.

    `[rows, *inner], [n], [n], scalar -> [segments, *inner]`
    """
    return _reduced(data, indices, segment_ids, num_segments, 1)


def _sqrt_n_gradient(node: Operation, grad: Tensor) -> Gradients:
    data, indices, ids = node.inputs[:3]
    first = sparse_segment_sqrt_n_grad(grad, indices, ids, _first_size(data))
    return [first, *[None] * (len(node.inputs) - 1)]


@op("SparseSegmentSqrtN", _SIGNATURE,
    ranks={"indices": 1, "data": AtLeast(1)}, infer=_shape, gradient=_sqrt_n_gradient, types={"T": FLOATS, **_TYPES},
    defaults=_DEFAULTS)  # fmt: skip
def sparse_segment_sqrt_n_node(
    ctx: OpContext, data: Array, indices: Array, segment_ids: Array, *, sparse_gradient: bool = False
) -> Result:
    """For each segment, the sum of the rows of `data` at its indices over the square root of their number.

    `[rows, *inner], [n], [n] -> [segments, *inner]`
    """
    return _reduced(data, indices, segment_ids, None, 0.5)


@op("SparseSegmentSqrtNWithNumSegments", _COUNTED,
    ranks={"indices": 1, "num_segments": 0, "data": AtLeast(1)}, infer=_shape, gradient=_sqrt_n_gradient,
    types={"T": FLOATS, **_COUNTED_TYPES}, defaults=_COUNTED_DEFAULTS)  # fmt: skip
def sparse_segment_sqrt_n_counted(
    ctx: OpContext, data: Array, indices: Array, segment_ids: Array, num_segments: Array, *, sparse_gradient: bool = False
) -> Result:
    """SparseSegmentSqrtN with the number of segments given.

    `[rows, *inner], [n], [n], scalar -> [segments, *inner]`
    """
    return _reduced(data, indices, segment_ids, num_segments, 0.5)


# Their gradients.


def _spread_shape(node: Operation) -> list[Dims]:
    dims, rows = node.inputs[0].dims, constant_value(node.inputs[3])
    return [None if dims is None else (None if rows is None else int(rows), *dims[1:])]


def _spread(grad: Array, indices: Array, segment_ids: Array, rows: Array, power: float) -> Array:
    if segment_ids.size and segment_ids.max() >= grad.shape[0]:
        raise InvalidArgumentError.of(f"Invalid number of segments: {grad.shape[0]} gradients for segment {segment_ids.max()}")
    weights = _weights(segment_ids, grad.shape[0], power).astype(grad.dtype)
    scaled = grad * weights.reshape((-1,) + (1,) * (grad.ndim - 1))
    result = np.zeros((int(rows), *grad.shape[1:]), grad.dtype)
    accumulate_rows(np.add, result, indices, scaled[segment_ids])
    return result


@op("SparseSegmentSumGrad", _GRADIENT,
    ranks={"indices": 1, "output_dim0": 0, "grad": AtLeast(1), "segment_ids": 1},
    infer=_spread_shape, gradient=None, types={"T": FLOATS, **_TYPES},
    defaults=_DEFAULTS)  # fmt: skip
def sparse_segment_sum_grad(ctx: OpContext, grad: Array, indices: Array, segment_ids: Array, output_dim0: Array) -> Result:
    """The gradient of SparseSegmentSum for its data.

    `[segments, *inner], [n], [n], scalar int32 -> [rows, *inner]`
    """
    return _spread(grad, indices, segment_ids, output_dim0, 0)


@op("SparseSegmentMeanGrad", _GRADIENT,
    ranks={"indices": 1, "output_dim0": 0, "grad": AtLeast(1), "segment_ids": 1},
    infer=_spread_shape, gradient=None, types={"T": FLOATS, **_TYPES},
    defaults=_DEFAULTS)  # fmt: skip
def sparse_segment_mean_grad(ctx: OpContext, grad: Array, indices: Array, segment_ids: Array, output_dim0: Array) -> Result:
    """The gradient of SparseSegmentMean for its data.

    `[segments, *inner], [n], [n], scalar int32 -> [rows, *inner]`
    """
    return _spread(grad, indices, segment_ids, output_dim0, 1)


@op("SparseSegmentSqrtNGrad", _GRADIENT,
    ranks={"indices": 1, "output_dim0": 0, "grad": AtLeast(1), "segment_ids": 1},
    infer=_spread_shape, gradient=None, types={"T": FLOATS, **_TYPES},
    defaults=_DEFAULTS)  # fmt: skip
def sparse_segment_sqrt_n_grad(ctx: OpContext, grad: Array, indices: Array, segment_ids: Array, output_dim0: Array) -> Result:
    """The gradient of SparseSegmentSqrtN for its data.

    `[segments, *inner], [n], [n], scalar int32 -> [rows, *inner]`
    """
    return _spread(grad, indices, segment_ids, output_dim0, 0.5)


# The functions of the API.


def _call(
    nodes: tuple[Callable[..., Tensor], Callable[..., Tensor]],
    inputs: tuple[TensorLike, TensorLike, TensorLike],
    name: str | None,
    num_segments: TensorLike | None,
) -> Tensor:
    if num_segments is None:
        return nodes[0](*inputs, name=name)
    return nodes[1](*inputs, num_segments, name=name)


def sparse_segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """For each segment, the sum of the rows of `data` at its indices; `num_segments` may add empty ones at the end.

    Args:
        data: [n, *inner] tensor of a numeric dtype.
        indices: [k] tensor of int32 or int64: rows of `data`.
        segment_ids: [k] tensor of int32, sorted: the segment of each.
        num_segments: int32 scalar.

    Returns:
        [segments, *inner] tensor of the dtype of `data`.
    """
    nodes = sparse_segment_sum_node, sparse_segment_sum_counted
    return _call(nodes, (data, indices, segment_ids), name, num_segments)


def sparse_segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """For each segment, the mean of the rows of `data` at its indices; `num_segments` may add empty ones at the end.

    Args: those of `tf.sparse.segment_sum`.

    Returns:
        [segments, *inner] tensor of the dtype of `data`, which is a floating one.
    """
    nodes = sparse_segment_mean_node, sparse_segment_mean_counted
    return _call(nodes, (data, indices, segment_ids), name, num_segments)


def sparse_segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    name: str | None = None,
    num_segments: TensorLike | None = None,
) -> Tensor:
    """For each segment, the sum of the rows of `data` at its indices over the square root of their number.

    Args: those of `tf.sparse.segment_sum`.

    Returns:
        [segments, *inner] tensor of the dtype of `data`, which is a floating one.
    """
    nodes = sparse_segment_sqrt_n_node, sparse_segment_sqrt_n_counted
    return _call(nodes, (data, indices, segment_ids), name, num_segments)

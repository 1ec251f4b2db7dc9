"""Sums, means, products and extremes of the rows that belong to one segment.

How many segments `SegmentSum` and its kin have is known by the last id only, so they run on the host. The
`Unsorted` forms are told the number and are compiled; ids below zero belong to no segment there.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible, format_dims
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.gather_scatter import gather_v2_node
from weft.ops.array.row_order import accumulate_rows
from weft.ops.array.selection import select_node, select_v2_node
from weft.ops.array.shape_ops import expand_dims
from weft.ops.declaration import not_differentiable, op, rank_of
from weft.ops.dispatch import dispatchable
from weft.ops.gradient_nodes import always
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater_equal, logical_and, maximum
from weft.ops.math.elementwise import NUMBERS, REAL, mul, real_div, truncated_quotient
from weft.ops.math.unary import sqrt

_INDEX = (dtypes.int32, dtypes.int64)


def _vector(tensor: Tensor, what: str) -> None:
    if rank_of(tensor) not in (None, 1):
        raise ValueError(f"Shape must be rank 1 but is rank {rank_of(tensor)}")


def _rows_of_segments(node: Operation) -> list[Dims]:
    data, ids = node.inputs
    _vector(ids, "segment_ids")
    if rank_of(data) == 0:
        raise ValueError("Shape must be at least rank 1 but is rank 0")
    if data.dims is None:
        return [None]
    known = constant_value(ids)
    if known is None or (known.size and known[-1] < 0):  # which a run refuses
        return [(None, *data.dims[1:])]
    return [(int(known[-1]) + 1 if known.size else 0, *data.dims[1:])]


def segment_count(segment_ids: Array, num_segments: int | None = None) -> int:
    """The number of segments; InvalidArgumentError unless the ids start at zero or above, never fall and stay below it."""
    if not segment_ids.size:
        return num_segments or 0
    last = int(segment_ids[-1])
    if num_segments is None and last < 0:
        raise InvalidArgumentError.of(f"segment ids must be >= 0, but the last is {last}")
    if num_segments is not None and last >= num_segments:
        raise InvalidArgumentError.of(f"segment ids must be < num_segments, but {last} >= {num_segments}")
    count = last + 1 if num_segments is None else num_segments
    if segment_ids[0] < 0 or (np.diff(segment_ids) < 0).any():
        _refuse_order(segment_ids.tolist(), count)
    return count


def _refuse_order(ids: list[int], count: int) -> None:
    """Say of ids in no order what TensorFlow says, which goes through them segment by segment."""
    for each, after in itertools.pairwise(ids):
        if after < each:
            raise InvalidArgumentError.of(f"segment ids are not increasing: {after} comes after {each}")
        if after > each and not 0 <= each < count:
            raise InvalidArgumentError.of(
                f"Segment id {each} out of range [0, {count}), possibly because 'segment_ids' input is not sorted."
            )
    raise InvalidArgumentError.of(f"Segment id {ids[-1]} out of range [0, {count})")


def _check_rows(data: Array, segment_ids: Array) -> None:
    if data.shape[:1] != segment_ids.shape:
        message = f"segment_ids should be the same size as dimension 0 of input, {segment_ids.shape} and {data.shape}"
        raise InvalidArgumentError.of(message)


def _gathered(tensor: Tensor, segment_ids: Tensor) -> Tensor:
    return gather_v2_node(tensor, segment_ids, 0)


def _accumulated(data: Array, segment_ids: Array, count: int, first: Array, accumulate: np.ufunc) -> Array:
    result = np.full((count, *data.shape[segment_ids.ndim :]), first, data.dtype)
    accumulate_rows(accumulate, result, segment_ids, data)
    return result


def _sizes(data: Array, segment_ids: Array, count: int) -> Array:
    sizes = np.bincount(segment_ids, minlength=count)
    return np.maximum(sizes, 1).astype(data.dtype).reshape((-1,) + (1,) * (data.ndim - 1))


# Sorted ids.


@op("SegmentSum", "data: T, segment_ids: Tindices -> output: T", infer=_rows_of_segments,
    gradient=lambda node, grad: [_gathered(grad, node.inputs[1]), None],
    types={"T": NUMBERS, "Tindices": _INDEX})  # fmt: skip
def segment_sum(ctx: OpContext, data: Array, segment_ids: Array) -> Result:
    """The sum of the rows of each segment: `[n, *inner], [n] -> [segments, *inner]`.

    Args:
        data: [n, *inner] tensor of a numeric dtype (for the greatest and the least, of floats or integers).
        segment_ids: [n] tensor of int32 or int64, sorted: the number of the segment that each row belongs to.
    """
    _check_rows(data, segment_ids)
    return _accumulated(data, segment_ids, segment_count(segment_ids), 0, np.add)


def _sizes_shape(node: Operation) -> list[Dims]:
    (dims,) = _rows_of_segments(node)
    return [None if dims is None else (dims[0], *(1,) * (len(dims) - 1))]


@op("SegmentSizes", "data: T, segment_ids: Tindices -> sizes: T", infer=_sizes_shape, gradient=not_differentiable)
def segment_sizes(ctx: OpContext, data: Array, segment_ids: Array) -> Result:
    """The number of rows of each segment, at least 1, in the rank of the data.

    `[n, *inner], [n] -> [segments, *ones]`.
    """
    return _sizes(data, segment_ids, segment_count(segment_ids))


def _mean_gradient(node: Operation, grad: Tensor) -> Gradients:
    data, ids = node.inputs
    return [_gathered(real_div(grad, segment_sizes(data, ids)), ids), None]


@op("SegmentMean", "data: T, segment_ids: Tindices -> output: T", infer=_rows_of_segments, gradient=_mean_gradient,
    gradient_nodes=always(16), types={"T": NUMBERS, "Tindices": _INDEX})  # fmt: skip
def segment_mean(ctx: OpContext, data: Array, segment_ids: Array) -> Result:
    """The mean of the rows of each segment, 0 for one without rows: `[n, *inner], [n] -> [segments, *inner]`.

    Args: those of `tf.math.segment_sum`.
    """
    _check_rows(data, segment_ids)
    count = segment_count(segment_ids)
    total, sizes = _accumulated(data, segment_ids, count, 0, np.add), _sizes(data, segment_ids, count)
    return truncated_quotient(total, sizes) if data.dtype.kind in "iu" else total / sizes


def _extreme_gradient(node: Operation, grad: Tensor) -> Gradients:
    # Rows that share the extreme share the gradient.
    data, ids = node.inputs
    chosen = equal(data, _gathered(node.outputs[0], ids))
    count = segment_sum(cast(chosen, grad.dtype), ids)
    shared = _gathered(real_div(grad, count), ids)
    return [select_node(chosen, shared, zeros_like(shared)), None]


def _empty_or(function: np.ufunc, data: Array, segment_ids: Array, first: Array) -> Array:
    """The extreme of each segment, 0 for one without rows."""
    _check_rows(data, segment_ids)
    count = segment_count(segment_ids)
    result = _accumulated(data, segment_ids, count, first, function)
    result[np.setdiff1d(np.arange(count), segment_ids)] = 0
    return result


def _lowest(dtype: np.dtype[Any], sign: int) -> Array:
    """The least value of a type, or the greatest if `sign` is negative."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if sign > 0 else limits.max
    return dtypes.as_dtype(dtype).min if sign > 0 else dtypes.as_dtype(dtype).max


@op("SegmentMax", "data: T, segment_ids: Tindices -> output: T", infer=_rows_of_segments, gradient=_extreme_gradient,
    types={"T": REAL, "Tindices": _INDEX})  # fmt: skip
def segment_max(ctx: OpContext, data: Array, segment_ids: Array) -> Result:
    """The greatest row of each segment, element by element, 0 for one without rows.

    `[n, *inner], [n] -> [segments, *inner]`.

    Args: those of `tf.math.segment_sum`.
    """
    return _empty_or(np.maximum, data, segment_ids, _lowest(data.dtype, 1))


@op("SegmentMin", "data: T, segment_ids: Tindices -> output: T", infer=_rows_of_segments, gradient=_extreme_gradient,
    types={"T": REAL, "Tindices": _INDEX})  # fmt: skip
def segment_min(ctx: OpContext, data: Array, segment_ids: Array) -> Result:
    """The least row of each segment, element by element, 0 for one without rows.

    `[n, *inner], [n] -> [segments, *inner]`.

    Args: those of `tf.math.segment_sum`.
    """
    return _empty_or(np.minimum, data, segment_ids, _lowest(data.dtype, -1))


def _prod_gradient(node: Operation, grad: Tensor) -> Gradients:
    data, ids = node.inputs
    return [mul(_gathered(grad, ids), segment_others(data, ids)), None]


@op("SegmentProd", "data: T, segment_ids: Tindices -> output: T", infer=_rows_of_segments, gradient=_prod_gradient,
    types={"T": NUMBERS, "Tindices": _INDEX})  # fmt: skip
def segment_prod(ctx: OpContext, data: Array, segment_ids: Array) -> Result:
    """The product of the rows of each segment: `[n, *inner], [n] -> [segments, *inner]`.

    Args: those of `tf.math.segment_sum`.
    """
    _check_rows(data, segment_ids)
    return _accumulated(data, segment_ids, segment_count(segment_ids), 1, np.multiply)


def _others(rows: Array) -> Array:
    """For each row the product of all the others."""
    ones = np.ones_like(rows[:1])
    before = np.cumprod(np.concatenate([ones, rows[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, rows[:0:-1]]), axis=0)[::-1]
    return before * after


@op("SegmentOthers", "data: T, segment_ids: Tindices -> output: T", infer=lambda node: [node.inputs[0].dims],
    gradient=not_differentiable)  # fmt: skip
def segment_others(ctx: OpContext, data: Array, segment_ids: Array) -> Result:
    """For each row the product of all the others of its segment; rows with an id below zero give 0.

    `[*places, *inner], [*places] -> [*places, *inner]`.
    """
    ids = segment_ids.reshape(-1)
    rows = data.reshape(ids.size, -1)
    result = np.zeros_like(rows)
    for segment in np.unique(ids[ids >= 0]):
        members = np.flatnonzero(ids == segment)
        result[members] = _others(rows[members])
    return result.reshape(data.shape)


# Unsorted ids.


def _unsorted_shape(node: Operation) -> list[Dims]:
    data, ids, count = node.inputs
    if data.dims is None or ids.dims is None:
        return [None]
    if len(ids.dims) > len(data.dims) or not dims_compatible(data.dims[: len(ids.dims)], ids.dims):
        raise ValueError(
            f"segment_ids shape must be a prefix of data's, but they are {format_dims(ids.dims)} and {format_dims(data.dims)}"
        )
    known = constant_value(count)
    if known is not None and known < 0:
        raise ValueError(f"Dimension size, given by scalar input 2, must be non-negative but is {int(known)}")
    return [(None if known is None else int(known), *data.dims[len(ids.dims) :])]


def _unsorted(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array, first: Array, how: str) -> Array:
    count = int(num_segments)
    flat = xp.reshape(data, (math.prod(segment_ids.shape), *data.shape[segment_ids.ndim :]))
    ids = xp.reshape(segment_ids, (-1,))
    if xp is np:
        _refuse_outside(segment_ids, count)
        accumulate = {"add": np.add, "max": np.maximum, "min": np.minimum, "multiply": np.multiply}[how]
        return _accumulated(flat[ids >= 0], ids[ids >= 0], count, first, accumulate)
    result = xp.full((count, *flat.shape[1:]), first, flat.dtype)
    # Compiled code drops rows outside; negative ids would count from the end.
    return getattr(result.at[xp.where(ids < 0, count, ids)], how)(flat, mode="drop")


def _gather_kept(tensor: Tensor, segment_ids: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of `tensor` by segment id, 0 for ids below zero, and which rows of the data have such an id."""
    rows = _gathered(tensor, maximum(segment_ids, zeros_like(segment_ids)))
    is_kept = greater_equal(segment_ids, 0)
    if rows.dims is None or is_kept.dims is None:
        is_kept = widened_to_rank(is_kept, rows)
    else:
        is_kept = _widened(is_kept, len(rows.dims) - len(is_kept.dims))
    return select_v2_node(is_kept, rows, zeros_like(rows)), is_kept


def _widened(tensor: Tensor, count: int) -> Array:
    for _ in range(count):
        tensor = expand_dims(tensor, -1)
    return tensor


@op("WidenToRank", "x: T, like: Tlike -> y: T", infer=lambda node: [None], gradient=None)
def widened_to_rank(xp: ArrayModule, x: Array, like: Array) -> Result:
    """A tensor with dimensions of size 1 put at its end until it has the rank of `like`.

    `[*sizes], [...] -> [*sizes, *ones]`.
    """
    return xp.reshape(x, (*x.shape, *(1,) * (like.ndim - x.ndim)))


_UNSORTED_TYPES = {"Tindices": _INDEX, "Tnumsegments": _INDEX}
_UNSORTED = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"


def _check_ids(node: Operation, data: Array, segment_ids: Array, num_segments: Array) -> None:
    count = constant_value(node.inputs[2]) if num_segments is None else num_segments
    if segment_ids is not None and count is not None:
        _refuse_outside(segment_ids, int(count))


def _refuse_outside(segment_ids: Array, count: int) -> None:
    if segment_ids.size and segment_ids.max() >= count:
        place = tuple(np.argwhere(segment_ids >= count)[0].tolist())
        where = f"[{','.join(map(str, place))}]" if place else ""
        raise InvalidArgumentError.of(f"segment_ids{where} = {segment_ids[place]} is out of range [0, {count})")


@op("UnsortedSegmentSum", _UNSORTED,
    ranks={"num_segments": 0}, infer=_unsorted_shape, check=_check_ids, static=("num_segments",),
    gradient=lambda node, grad: [_gather_kept(grad, node.inputs[1])[0], None, None], gradient_nodes=always(14),
    types={"T": NUMBERS, "Tindices": (dtypes.int16, *_INDEX), "Tnumsegments": _INDEX},
    defaults={"Tnumsegments": dtypes.int32})  # fmt: skip
def unsorted_segment_sum(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The sum of the rows of each segment: `[*places, *inner], [*places], scalar -> [num_segments, *inner]`.

    Args:
        data: [*places, *inner] tensor of a numeric dtype (for the greatest and the least, of floats or integers).
        segment_ids: [*places] tensor of int32 or int64: the segment that each row belongs to; a row with a negative one is
            left out.
        num_segments: int32 or int64 scalar.
    """
    return _unsorted(xp, data, segment_ids, num_segments, 0, "add")


def _unsorted_extreme_gradient(node: Operation, grad: Tensor) -> Gradients:
    data, ids, count = node.inputs
    best, is_kept = _gather_kept(node.outputs[0], ids)
    chosen = logical_and(equal(data, best), is_kept)
    shares = unsorted_segment_sum(cast(chosen, grad.dtype), ids, count)
    shared, _ = _gather_kept(real_div(grad, shares), ids)
    return [select_node(chosen, shared, zeros_like(shared)), None, None]


@op("UnsortedSegmentMax", _UNSORTED,
    ranks={"num_segments": 0}, infer=_unsorted_shape, check=_check_ids, gradient=_unsorted_extreme_gradient,
    static=("num_segments",), types={"T": REAL, **_UNSORTED_TYPES},
    defaults={"Tnumsegments": dtypes.int32})  # fmt: skip
def unsorted_segment_max(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The greatest row of each segment, element by element; the least value of the type for one without rows.

    `[*places, *inner], [*places], scalar -> [num_segments, *inner]`.

    Args: those of `tf.math.unsorted_segment_sum`.
    """
    return _unsorted(xp, data, segment_ids, num_segments, _lowest(np.dtype(data.dtype), 1), "max")


@op("UnsortedSegmentMin", _UNSORTED,
    ranks={"num_segments": 0}, infer=_unsorted_shape, check=_check_ids, gradient=_unsorted_extreme_gradient,
    static=("num_segments",), types={"T": REAL, **_UNSORTED_TYPES},
    defaults={"Tnumsegments": dtypes.int32})  # fmt: skip
def unsorted_segment_min(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The least row of each segment, element by element; the greatest value of the type for one without rows.

    `[*places, *inner], [*places], scalar -> [num_segments, *inner]`.

    Args: those of `tf.math.unsorted_segment_sum`.
    """
    return _unsorted(xp, data, segment_ids, num_segments, _lowest(np.dtype(data.dtype), -1), "min")


def _unsorted_prod_gradient(node: Operation, grad: Tensor) -> Gradients:
    data, ids, _ = node.inputs
    return [mul(_gather_kept(grad, ids)[0], segment_others(data, ids)), None, None]


@op("UnsortedSegmentProd", _UNSORTED,
    ranks={"num_segments": 0}, infer=_unsorted_shape, check=_check_ids, gradient=_unsorted_prod_gradient,
    static=("num_segments",), types={"T": NUMBERS, **_UNSORTED_TYPES},
    defaults={"Tnumsegments": dtypes.int32})  # fmt: skip
def unsorted_segment_prod(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The product of the rows of each segment: `[*places, *inner], [*places], scalar -> [num_segments, *inner]`.

    Args: those of `tf.math.unsorted_segment_sum`.
    """
    return _unsorted(xp, data, segment_ids, num_segments, 1, "multiply")


def _divisors(data: Tensor, segment_ids: Tensor, num_segments: TensorLike) -> Tensor:
    """The number of rows of each segment, at least 1, in the rank of the sums."""
    counts = unsorted_segment_sum(ones_like(segment_ids, data.dtype), segment_ids, num_segments)
    if data.dims is None or segment_ids.dims is None:
        counts = widened_to_rank(counts, unsorted_segment_sum(data, segment_ids, num_segments))
    else:
        counts = _widened(counts, len(data.dims) - len(segment_ids.dims))
    return maximum(counts, 1)


@dispatchable
def unsorted_segment_mean(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The mean of the rows of each segment, 0 for one without rows.

    Args: those of `tf.math.unsorted_segment_sum`.
    """
    with input_scope(name, "UnsortedSegmentMean", (data, segment_ids)):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        divisors = _divisors(data, segment_ids, num_segments)
        return real_div(unsorted_segment_sum(data, segment_ids, num_segments), divisors, name="truediv")


@dispatchable
def unsorted_segment_sqrt_n(
    data: TensorLike, segment_ids: TensorLike, num_segments: TensorLike, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment over the square root of their number.

    Args: those of `tf.math.unsorted_segment_sum`.
    """
    with input_scope(name, "UnsortedSegmentSqrtN", (data, segment_ids)):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        divisors = sqrt(_divisors(data, segment_ids, num_segments))
        return real_div(unsorted_segment_sum(data, segment_ids, num_segments), divisors, name="truediv")

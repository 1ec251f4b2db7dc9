"""Counting and ranking values: Bincount, HistogramFixedWidth, Bucketize."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.op_types.op_def import AtMost
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, dims_compatible
from weft.framework.types.dtypes import DType
from weft.ops.array.constant import constant
from weft.ops.array.shape_ops import reshape, size
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, maximum, minimum
from weft.ops.math.elementwise import add, mul
from weft.ops.math.reduce_functions import reduce_max

_COUNTS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def _bins_shape(node: Operation) -> list[Dims]:
    known = constant_value(node.inputs[1])
    return [(None if known is None else int(known),)]


@op("Bincount", "arr: int32, size: int32, weights: T -> bins: T",
    ranks={"size": 0}, infer=_bins_shape, gradient=None, static=("size",),
    types={"T": _COUNTS})  # fmt: skip
def bincount_node(xp: ArrayModule, arr: Array, size: Array, weights: Array) -> Result:
    """How often each of the numbers below `size` occurs, or the sum of its weights when there are weights.

    `[...], scalar, [...] -> [size]`, or with empty weights.
    """
    count = int(size)
    flat = xp.reshape(arr, (-1,))
    if isinstance(flat, np.ndarray) and (flat < 0).any():
        raise InvalidArgumentError.of("Input arr must be non-negative!")
    given = xp.reshape(weights, (-1,)) if weights.size else xp.ones_like(flat, dtype=weights.dtype)
    kept = (flat >= 0) & (flat < count)
    if xp is np:
        bins = np.zeros(count, weights.dtype)
        np.add.at(bins, flat[kept], given[kept])
        return bins
    return xp.zeros(count, weights.dtype).at[xp.where(kept, flat, count)].add(given, mode="drop")


def _dense_bins_shape(node: Operation) -> list[Dims]:
    [bins] = _bins_shape(node)
    dims = node.inputs[0].dims
    return [None if dims is None else (*dims[:-1], *(bins or ()))]


@op("DenseBincount", "input: Tidx, size: Tidx, weights: T -> output: T",
    ranks={"size": 0, "input": AtMost(2)}, infer=_dense_bins_shape, gradient=None,
    types={"Tidx": (dtypes.int32, dtypes.int64), "T": _COUNTS})  # fmt: skip
def dense_bincount(ctx: OpContext, input: Array, size: Array, weights: Array, *, binary_output: bool = False) -> Result:
    """How often each of the numbers below `size` occurs in each row, whether it does, or the sum of its weights.

    `[..., n], scalar, [..., n] -> [..., size]`, or with empty weights; there is one row, or a batch of rows.
    """
    if input.ndim > 2:
        raise InvalidArgumentError.of(f"Shape must be at most rank 2 but is rank {input.ndim}")
    if input.size and input.min() < 0:
        raise InvalidArgumentError.of("Input arr must be non-negative!")
    rows = np.atleast_2d(input)
    given = np.broadcast_to(np.ones((), weights.dtype), rows.shape) if not weights.size else weights.reshape(rows.shape)
    bins = np.zeros((len(rows), int(size)), weights.dtype)
    row, column = np.nonzero(rows < int(size))
    if binary_output:
        bins[row, rows[row, column]] = 1
    else:
        np.add.at(bins, (row, rows[row, column]), given[row, column])
    return bins.reshape(*input.shape[:-1], int(size))


def bincount(
    arr: TensorLike,
    weights: TensorLike | None = None,
    minlength: TensorLike | None = None,
    maxlength: TensorLike | None = None,
    dtype: DTypeLike = dtypes.int32,
) -> Tensor:
    """How often each of 0, 1, 2 ... occurs in `arr`, or the sums of its weights.

    Args:
        arr: numbers of at least 0.
        weights: a weight per element of `arr`.
        minlength: the least length of the result.
        maxlength: the greatest length; greater numbers are passed over.
        dtype: the type of the result when there are no weights.

    Raises:
        TypeError: `arr` has no whole numbers.
        ValueError: there are more weights than numbers, or fewer.
    """
    with input_scope(None, "bincount", (arr,)):
        given = convert_to_tensor(arr, name="arr")
        if not given.dtype.is_integer:
            raise TypeError(
                f"Expected int32, got {arr!r} of type '{given.dtype.name}' instead. bincount counts whole numbers: "
                "tf.cast(arr, tf.int32) makes them, tf.histogram_fixed_width counts fractions."
            )
        arr = cast(given, dtypes.int32)
        get_default_graph().node_count.total += 2  # of TensorFlow's size, by which later seeds go
        is_filled = cast(greater(size(arr), 0), dtypes.int32)
        length = mul(is_filled, add(reduce_max(arr), 1, name="add"), name="mul")
        if minlength is not None:
            length = maximum(convert_to_tensor(minlength, dtypes.int32, name="minlength"), length)
        if maxlength is not None:
            length = minimum(convert_to_tensor(maxlength, dtypes.int32, name="maxlength"), length)
        if weights is None:
            weights = constant([], dtypes.as_dtype(dtype))
        elif not dims_compatible((weights := convert_to_tensor(weights, name="weights")).dims, given.dims):
            raise ValueError(
                f"Dimensions must be equal: there is a weight for each of arr, {given.shape}, and weights are {weights.shape}."
            )
        return bincount_node(arr, length, weights)


def _histogram_shape(node: Operation) -> list[Dims]:
    if node.inputs[1].dims not in (None, (2,), (None,)):
        raise ValueError("value_range must be a vector of 2 elements")
    known = constant_value(node.inputs[2])
    if known is not None and known <= 0:
        raise ValueError(f"Requires nbins > 0: {int(known)}")
    return [(None if known is None else int(known),)]


@op("HistogramFixedWidth", "values: T, value_range: T, nbins: int32 -> out: dtype",
    ranks={"nbins": 0}, infer=_histogram_shape,
    gradient=None, static=("nbins",), types={"T": _COUNTS, "dtype": (dtypes.int32, dtypes.int64)})  # fmt: skip
def histogram_node(xp: ArrayModule, values: Array, value_range: Array, nbins: Array, *, dtype: DType = dtypes.int32) -> Result:
    """How many values are in each of `nbins` equal parts of a range; those outside count for the first or last.

    `[...], [2], scalar -> [nbins]`.
    """
    count = int(nbins)
    if count <= 0:
        raise InvalidArgumentError.of(f"nbins should be a positive number, but got '{count}'")
    flat, low, high = xp.reshape(values, (-1,)), value_range[0], value_range[1]
    if isinstance(value_range, np.ndarray) and low >= high:
        message = f"value_range should satisfy value_range[0] < value_range[1], but got [{low}, {high}]"
        raise InvalidArgumentError.of(message)
    width = (high - low).astype(np.float64) / count
    places = xp.clip(xp.floor((flat - low) / width), 0, count - 1).astype(np.int32)
    bins = xp.sum(places[:, None] == np.arange(count)[None, :], axis=0)
    return bins.astype(dtype.as_numpy_dtype)


def histogram_fixed_width(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values are in each of `nbins` equal parts of a range; those outside count for the first or last.

    Args:
        values: [...] tensor of int32, int64, float32 or float64.
        value_range: [2] tensor of the dtype of `values`: the least value, and the greatest, which is greater.
        nbins: int32 scalar, positive: the number of parts.
        dtype: int32 or int64, the dtype of the counts.

    Returns:
        [nbins] tensor of `dtype`.
    """
    return histogram_node(values, value_range, nbins, dtype=dtype, name=name or "histogram_fixed_width")


def histogram_fixed_width_bins(
    values: TensorLike,
    value_range: TensorLike,
    nbins: TensorLike = 100,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The number of the part of a range that each value is in, by the rule of `histogram_fixed_width`.

    Args:
        values: [...] tensor of int32, int64, float32 or float64.
        value_range: [2] tensor of the dtype of `values`: the least value, and the greatest, which is greater.
        nbins: int32 scalar, positive: the number of parts.
        dtype: int32 or int64, the dtype of the result.

    Returns:
        [...] tensor of `dtype` in the shape of `values`, from 0 to `nbins - 1`.
    """
    with input_scope(name, "histogram_fixed_width_bins", (values, value_range, nbins)):
        values = convert_to_tensor(values, name="values")
        value_range = convert_to_tensor(value_range, values.dtype, name="value_range")
        nbins = convert_to_tensor(nbins, dtypes.int32, name="nbins")
        # Numbers that stand in dimensions of their own are numbers all the same.
        if value_range.dims and value_range.dims[1:] and set(value_range.dims[1:]) == {1}:
            value_range = reshape(value_range, [-1])
        if nbins.dims and set(nbins.dims) == {1}:
            nbins = reshape(nbins, [])
        return bin_numbers(values, value_range, nbins, dtype=dtypes.as_dtype(dtype))


@op("HistogramBins", "values: T, value_range: T, nbins: int32 -> out: dtype", ranks={"value_range": 1, "nbins": 0},
    infer=same_as_input, gradient=not_differentiable, types={"T": _COUNTS, "dtype": (dtypes.int32, dtypes.int64)})  # fmt: skip
def bin_numbers(xp: ArrayModule, values: Array, value_range: Array, nbins: Array, *, dtype: DType = dtypes.int32) -> Result:
    """The part of a range that each value is in: `[...], [2], scalar -> [...]`."""
    width = (value_range[1] - value_range[0]).astype(np.float64) / nbins
    return xp.clip(xp.floor((values - value_range[0]) / width), 0, nbins - 1).astype(dtype.as_numpy_dtype)


@op("Bucketize", "input: T -> output: int32", infer=same_as_input, gradient=None, types={"T": _COUNTS})
def bucketize(xp: ArrayModule, input: Array, *, boundaries: list[float]) -> Result:
    """The number of boundaries that each element has reached: `[...] -> [...] int32`."""
    return xp.searchsorted(np.array(boundaries, np.float32), input, side="right")

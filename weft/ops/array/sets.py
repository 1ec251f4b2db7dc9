"""Ops on the distinct values of vectors; what they give depends on the data, so they run on the host."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, DTypeLike, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import BuildMisfit
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.padding import check_rank
from weft.ops.array.shape_ops import INDEX, brackets
from weft.ops.declaration import op, rank_of


class Unique(NamedTuple):
    """The distinct values and, for each element, which of them it is."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The distinct values, for each element which of them it is, and how often each occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # type: ignore[assignment]


class ListDiff(NamedTuple):
    """The elements that are left, and their positions."""

    out: Tensor
    idx: Tensor


def _unique_shape(node: Operation) -> list[Dims]:
    check_rank(node.inputs[0], 1)
    dims = node.inputs[0].dims
    shapes: list[Dims] = [(None,), (None,) if dims is None else dims, (None,)]
    return shapes[: len(node.outputs)]


def _distinct(x: Array) -> tuple[Array, Array, Array]:
    if x.ndim != 1:
        raise InvalidArgumentError.of(f"unique expects a 1D vector, but the shape is {brackets(x.shape)}")
    places: dict[object, int] = {}
    index = np.array([places.setdefault(item, len(places)) for item in x.tolist()], np.int64)
    values = np.empty(len(places), x.dtype)
    values[:] = list(places)
    return values, index, np.bincount(index, minlength=len(places))


@op("Unique", "x: T -> y: T, idx: out_idx", infer=_unique_shape, gradient=None, types={"out_idx": INDEX})
def unique_node(ctx: OpContext, x: Array, *, out_idx: DType = dtypes.int32) -> tuple[Result, Result]:
    """The distinct values in the order in which they first occur, and the position in them of each element.

    `[n] -> [k], [n]`.
    """
    return _distinct(x)[:2]


@op("UniqueWithCounts", "x: T -> y: T, idx: out_idx, count: out_idx", infer=_unique_shape, gradient=None,
    types={"out_idx": INDEX})  # fmt: skip
def unique_with_counts_node(ctx: OpContext, x: Array, *, out_idx: DType = dtypes.int32) -> tuple[Result, Result, Result]:
    """Unique, and how often each value occurs: `[n] -> [k], [n], [k]`."""
    return _distinct(x)


def _unique_slices_shape(node: Operation) -> list[Dims]:
    dims, axis = node.inputs[0].dims, constant_value(node.inputs[1])
    if rank_of(node.inputs[1]) not in (None, 1):
        raise BuildMisfit("axis expects a 1D vector.", "The axis is a vector of one number, or of none.")
    if axis is not None and not axis.size and dims is not None and len(dims) != 1:
        raise ValueError("x expects a 1D vector.")
    if dims is None or axis is None:
        return [None if dims is None else (None,) * len(dims), *[(None,)] * (len(node.outputs) - 1)]
    at = int(axis[0]) if axis.size else 0
    if not -len(dims) <= at < len(dims):
        raise ValueError(f"axis expected to be in the range [{-len(dims)}, {len(dims)}) but got {at}")
    at %= len(dims)
    shapes: list[Dims] = [(*dims[:at], None, *dims[at + 1 :]), (dims[at],), (None,)]
    return shapes[: len(node.outputs)]


def _distinct_slices(x: Array, axis: Array) -> tuple[Array, Array, Array]:
    if axis.ndim != 1:
        raise InvalidArgumentError.of(f"axis expects a 1D vector, got {list(axis.shape)}")
    if not axis.size:
        return _distinct(x)
    at = int(axis.ravel()[0])
    if not -x.ndim <= at < x.ndim:
        raise InvalidArgumentError.of(f"axis has to be between {-x.ndim} and {x.ndim - 1}, it is {at}")
    slices = np.moveaxis(x, at, 0)
    places: dict[object, int] = {}
    index = np.array([places.setdefault(tuple(each.ravel().tolist()), len(places)) for each in slices], np.int64)
    firsts = np.unique(index, return_index=True)[1]
    return np.moveaxis(slices[firsts], 0, at), index, np.bincount(index, minlength=len(places))


@op("UniqueV2", "x: T, axis: Taxis -> y: T, idx: out_idx", infer=_unique_slices_shape, gradient=None,
    types={"Taxis": INDEX, "out_idx": INDEX}, defaults={"Taxis": dtypes.int64})  # fmt: skip
def unique_v2(ctx: OpContext, x: Array, axis: Array, *, out_idx: DType = dtypes.int32) -> tuple[Result, Result]:
    """The distinct slices along an axis (the values of a vector when it is empty), and the number of each slice among them.

    `[*outer, n, *inner], [1] -> [*outer, k, *inner], [n]`.
    """
    return _distinct_slices(x, axis)[:2]


@op("UniqueWithCountsV2", "x: T, axis: Taxis -> y: T, idx: out_idx, count: out_idx", infer=_unique_slices_shape,
    gradient=None, types={"Taxis": INDEX, "out_idx": INDEX}, defaults={"Taxis": dtypes.int64})  # fmt: skip
def unique_with_counts_v2(
    ctx: OpContext, x: Array, axis: Array, *, out_idx: DType = dtypes.int32
) -> tuple[Result, Result, Result]:
    """UniqueV2, and how often each slice occurs: `[*outer, n, *inner], [1] -> [*outer, k, *inner], [n], [k]`."""
    return _distinct_slices(x, axis)


def unique(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct values `y` of a vector in the order of their first places, and `idx` with `y[idx[i]] == x[i]`.

    Args:
        x: [n] tensor of any dtype.
        out_idx: int32 or int64, the dtype of `idx`.

    Returns:
        `y`, [k] of the dtype of `x`, and `idx`, [n].

    Raises:
        ValueError: `x` is no vector, as far as its shape is known.
    """
    return Unique(*unique_node(x, out_idx=out_idx, name=name))


def unique_with_counts(x: TensorLike, out_idx: DTypeLike = dtypes.int32, name: str | None = None) -> UniqueWithCounts:
    """As `unique`, with how often each value occurs.

    Args:
        x: [n] tensor of any dtype.
        out_idx: int32 or int64, the dtype of `idx` and `count`.

    Returns:
        `y`, [k] of the dtype of `x`, `idx`, [n], and `count`, [k].
    """
    return UniqueWithCounts(*unique_with_counts_node(x, out_idx=out_idx, name=name))


@op("ListDiff", "x: T, y: T -> out: T, idx: out_idx",
    ranks={"x": 1, "y": 1}, infer=lambda node: [(None,), (None,)], gradient=None,
    types={"out_idx": INDEX})  # fmt: skip
def list_diff(ctx: OpContext, x: Array, y: Array, *, out_idx: DType = dtypes.int32) -> tuple[Result, Result]:
    """The elements of `x` that are not in `y`, and their positions: `[n], [m] -> [k], [k]`."""
    gone = set(y.tolist())
    kept = np.array([index for index, item in enumerate(x.tolist()) if item not in gone], np.int64)
    return x[kept], kept


def setdiff1d(x: TensorLike, y: TensorLike, index_dtype: DTypeLike = dtypes.int32, name: str | None = None) -> ListDiff:
    """The elements of vector `x` that are not in `y`, with repetitions, and their positions in `x`.

    Args:
        x, y: [n] and [m] tensors of one dtype.
        index_dtype: int32 or int64, the dtype of the positions.

    Returns:
        `out`, [k] of the dtype of `x`, and `idx`, [k] of `index_dtype`.
    """
    return ListDiff(*list_diff(x, y, out_idx=index_dtype, name=name))

"""Rows that are changed in place, axes of other formats, and other small ops on arrays."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.array.gather_scatter import check_tensor_scattered
from weft.ops.array.tensor_scatter import tensor_scattered_shape
from weft.ops.declaration import not_differentiable, op, same_as_input
from weft.ops.math.elementwise import NUMBERS, REAL
from weft.ops.size_checks import check_equal
from weft.ops.symbolic_gradient import vjp

_INDEX: Final = (dtypes.int32, dtypes.int64)


# Rows of an array that nobody else uses.


def _changed(x: Array, i: Array, v: Array, how: str) -> Array:
    made = np.array(x)
    rows = np.asarray(i).reshape(-1) if i.ndim else None
    if rows is not None and (v.shape[:1] != rows.shape or v.shape[1:] != x.shape[1:]):
        raise InvalidArgumentError.of(f"x is of shape {list(x.shape)}, v of {list(v.shape)}, for {len(rows)} rows")
    if rows is None and i.ndim == 0 and v.size != x[:1].size:
        raise InvalidArgumentError.of(f"x is of shape {list(x.shape)}, v of {list(v.shape)}, for one row")
    if not made.size:
        return made
    size = max(x.shape[0] if x.ndim else 0, 1)
    # As TensorFlow's kernel, rows are counted around the end.
    places = (np.asarray(i) % size) if rows is None else rows % size
    values = v.reshape(x.shape[1:]) if rows is None else v
    if how == "update":
        made[places] = values
    else:
        np.add.at(made, places, values if how == "add" else -values)
    return made


@op("InplaceUpdate", "x: T, i: int32, v: T -> y: T", infer=same_as_input, gradient=not_differentiable)
def inplace_update(ctx: OpContext, x: Array, i: Array, v: Array) -> Result:
    """The array with other rows at `i`: `[n, *row], [m], [m, *row] -> [n, *row]`."""
    return _changed(x, i, v, "update")


@op("InplaceAdd", "x: T, i: int32, v: T -> y: T", infer=same_as_input, gradient=not_differentiable, types={"T": NUMBERS})
def inplace_add(ctx: OpContext, x: Array, i: Array, v: Array) -> Result:
    """The array with something added to the rows at `i`: `[n, *row], [m], [m, *row] -> [n, *row]`."""
    return _changed(x, i, v, "add")


@op("InplaceSub", "x: T, i: int32, v: T -> y: T", infer=same_as_input, gradient=not_differentiable, types={"T": NUMBERS})
def inplace_sub(ctx: OpContext, x: Array, i: Array, v: Array) -> Result:
    """The array with something taken from the rows at `i`: `[n, *row], [m], [m, *row] -> [n, *row]`."""
    return _changed(x, i, v, "sub")


@op("ScatterNdNonAliasingAdd", "input: T, indices: Tindices, updates: T -> output: T", infer=tensor_scattered_shape,
    gradient=vjp, check=check_tensor_scattered, checks_traced=True,
    types={"T": (*NUMBERS, dtypes.bool), "Tindices": _INDEX})  # fmt: skip
def scatter_nd_non_aliasing_add(
    xp: ArrayModule, input: Array, indices: Array, updates: Array, *, bad_indices_policy: str = ""
) -> Result:
    """The array with updates added at indices: `[*n], [*m, k], [*m, *slice] -> [*n]`."""
    return lookup("TensorScatterAdd").kernel(xp, input, indices, updates)


# Formats of images.


def _check_formats(src_format: str, dst_format: str) -> None:
    for each, what, name in ((src_format, "Source", "src"), (dst_format, "Destination", "dst")):
        if len(each) not in (4, 5):
            raise InvalidArgumentError.of(f"{what} format must be of length 4 or 5, received {name}_format = {each}")
    if sorted(src_format) != sorted(dst_format) or len(set(src_format)) != len(src_format):
        raise InvalidArgumentError.of(
            f"Destination and source format must determine a permutation, got {src_format} and {dst_format}"
        )


def _places(src_format: str, dst_format: str) -> Array:
    _check_formats(src_format, dst_format)
    return np.array([dst_format.index(letter) for letter in src_format])


@op("DataFormatDimMap", "x: T -> y: T", infer=same_as_input, gradient=not_differentiable, types={"T": _INDEX},
    defaults={"T": dtypes.int32})  # fmt: skip
def data_format_dim_map(xp: ArrayModule, x: Array, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Result:
    """The numbers that axes of one format of images have in another: `[...] -> [...]`."""
    places = xp.asarray(_places(src_format, dst_format).astype(x.dtype))
    return places[x % len(src_format)]


@op("DataFormatVecPermute", "x: T -> y: T", infer=same_as_input, gradient=not_differentiable, types={"T": _INDEX},
    defaults={"T": dtypes.int32})  # fmt: skip
def data_format_vec_permute(xp: ArrayModule, x: Array, *, src_format: str = "NHWC", dst_format: str = "NCHW") -> Result:
    """A vector of sizes, or rows of paddings, in the order of another format: `[n, *row] -> [n, *row]`."""
    _check_formats(src_format, dst_format)
    if x.ndim not in (1, 2):
        raise InvalidArgumentError.of(f"input must be a vector or 2D tensor, but got shape {list(x.shape)}")
    size = x.shape[0]
    source, target = src_format, dst_format
    if size == len(source) - 2:
        # Sizes of the image alone.
        source, target = ("".join(letter for letter in each if letter not in "NC") for each in (source, target))
    if size != len(source):
        raise InvalidArgumentError.of(
            f"1D input must be of size {len(src_format) - 2} or {len(src_format)}, but got shape [{size}]"
        )
    return x[np.array([source.index(letter) for letter in target])]


# Segments whose number is given.


def _segments_shape(node: Operation) -> list[Dims]:
    data, known = node.inputs[0].dims, constant_value(node.inputs[2])
    check_equal(node.inputs[0], 0, node.inputs[1], 0)
    return [None if data is None else (None if known is None else int(known), *data[1:])]


_SEGMENTS: Final = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T"
_COUNT: Final = {"Tnumsegments": dtypes.int32}


@op("SegmentSumV2", _SEGMENTS, ranks={"segment_ids": 1, "num_segments": 0}, infer=_segments_shape, gradient=vjp,
    types={"T": NUMBERS, "Tindices": _INDEX, "Tnumsegments": _INDEX}, defaults=_COUNT, static=("num_segments",))  # fmt: skip
def segment_sum_v2(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The sums of the rows of segments: `[n, *inner], [n], scalar -> [num_segments, *inner]`."""
    return lookup("UnsortedSegmentSum").kernel(xp, data, segment_ids, num_segments)


@op("SegmentProdV2", _SEGMENTS, ranks={"segment_ids": 1, "num_segments": 0}, infer=_segments_shape, gradient=vjp,
    types={"T": NUMBERS, "Tindices": _INDEX, "Tnumsegments": _INDEX}, defaults=_COUNT, static=("num_segments",))  # fmt: skip
def segment_prod_v2(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The products of the rows of segments: `[n, *inner], [n], scalar -> [num_segments, *inner]`."""
    return lookup("UnsortedSegmentProd").kernel(xp, data, segment_ids, num_segments)


@op("SegmentMaxV2", _SEGMENTS, ranks={"segment_ids": 1, "num_segments": 0}, infer=_segments_shape, gradient=vjp,
    types={"T": REAL, "Tindices": _INDEX, "Tnumsegments": _INDEX}, defaults=_COUNT, static=("num_segments",))  # fmt: skip
def segment_max_v2(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The greatest rows of segments, element by element: `[n, *inner], [n], scalar -> [num_segments, *inner]`."""
    return lookup("UnsortedSegmentMax").kernel(xp, data, segment_ids, num_segments)


@op("SegmentMinV2", _SEGMENTS, ranks={"segment_ids": 1, "num_segments": 0}, infer=_segments_shape, gradient=vjp,
    types={"T": REAL, "Tindices": _INDEX, "Tnumsegments": _INDEX}, defaults=_COUNT, static=("num_segments",))  # fmt: skip
def segment_min_v2(xp: ArrayModule, data: Array, segment_ids: Array, num_segments: Array) -> Result:
    """The least rows of segments, element by element: `[n, *inner], [n], scalar -> [num_segments, *inner]`."""
    return lookup("UnsortedSegmentMin").kernel(xp, data, segment_ids, num_segments)

"""Partitions of values into rows, as tensors: splits, lengths and row numbers, each made of another."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType, as_dtype
from weft.ops.array.filling import ones_like, zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.scans import cumsum
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.ragged.nodes import row_ids_node


def lengths_of(splits: Tensor) -> Tensor:
    """The length of each row."""
    return splits[1:] - splits[:-1]


def lengths_to_splits(lengths: Tensor) -> Tensor:
    """Splits of rows of these lengths."""
    return concat([zeros([1], lengths.dtype), cumsum(lengths)], axis=0)


def rowids_to_splits(rowids: Tensor, nrows: Tensor) -> Tensor:
    """Splits of rows whose values have these row numbers, in ascending order."""
    splits = lengths_to_splits(unsorted_segment_sum(ones_like(rowids), rowids, nrows))
    known = constant_value(nrows)
    if known is not None:
        splits.set_shape([int(known) + 1])
    return splits


def nrows_of(values: Tensor, dtype: DType) -> Tensor:
    """The size of the first dimension."""
    return shape(values, out_type=dtype)[0]


def as_index(value: TensorLike, name: str, dtype: DType) -> Tensor:
    """A tensor of the type of splits, of whatever integers."""
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor, not {tensor.dtype.name}")
    return cast(tensor, dtype)


def positive_axis(axis: int, rank: int | None) -> int:
    """The axis counted from the front; TypeError and ValueError as TensorFlow has them."""
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}" if rank else "ndims must be positive")
    return axis % rank


@contextlib.contextmanager
def same_partitions(nested: Sequence[Sequence[Tensor]]) -> Iterator[Sequence[Tensor]]:
    """A block for what is made of several tensors row by row; in it, the first of their lists of splits.

    Its nodes wait for checks that the lists are equal where they are not the same tensors: a run may ask for the values alone.

    Raises:
        ValueError: the lists have not the same number of ragged dimensions.
    """
    if any(len(splits) != len(nested[0]) for splits in nested):
        raise ValueError("Inputs must have identical ragged splits")
    checks = [
        assert_equal(a, b, message="Inputs must have identical ragged splits")
        for splits in nested[1:] for a, b in zip(nested[0], splits, strict=True) if a is not b
    ]  # fmt: skip
    with get_default_graph().control_dependencies(checks):
        yield [with_dependencies(checks, splits) for splits in nested[0]] if checks else nested[0]


def row_splits_to_segment_ids(splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """The row number of each value, `[nvals]`, of rows with these splits.

    Args:
        splits: `[rows + 1]`, ascending from 0.
        out_type: int32 or int64; that of the splits when None.

    Raises:
        ValueError: the splits are empty, or neither int32 nor int64.
    """
    with input_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        found = convert_to_tensor(splits, name="splits", preferred_dtype=dtypes.int64)
        if found.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("splits must have dtype int32 or int64")
        found.get_shape().assert_has_rank(1)
        if found.dims == (0,):
            raise ValueError("Invalid row_splits: []")
        ids = row_ids_node(found)
        return ids if out_type is None else cast(ids, as_dtype(out_type))


def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The splits, `[rows + 1]`, of rows whose values have these row numbers, in ascending order.

    Args:
        segment_ids: `[nvals]` int32 or int64.
        num_segments: the number of rows, []; one more than the greatest number when None.
        out_type: int32 or int64; that of the numbers when None.

    Raises:
        TypeError: `num_segments` is no whole number.
    """
    with input_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        ids = convert_to_tensor(segment_ids, name="segment_ids", preferred_dtype=out_type or dtypes.int64)
        ids.get_shape().assert_has_rank(1)
        count = None if num_segments is None else convert_to_tensor(num_segments, name="num_segments")
        if count is not None and not count.dtype.base_dtype.is_integer:
            raise TypeError(f"num_segments must be an integer tensor; dtype={count.dtype!r}")
        rows = last_plus_one(ids) if count is None else cast(count, ids.dtype)
        return cast(rowids_to_splits(ids, rows), as_dtype(out_type) if out_type else ids.dtype)


def last_plus_one(rowids: Tensor) -> Tensor:
    """The number of rows that row numbers in ascending order tell, a constant where they are one."""
    known = constant_value(rowids)
    if known is not None:
        return convert_to_tensor(int(known[-1]) + 1 if known.size else 0, rowids.dtype, name="nrows")
    return concat([zeros([1], rowids.dtype), rowids + 1], axis=0)[-1]

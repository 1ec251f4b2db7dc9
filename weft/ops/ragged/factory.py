"""Ragged tensors from Python: constants, placeholders, ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.constant import constant as dense_constant
from weft.ops.array.placeholder import placeholder as dense_placeholder
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.ragged.nodes import ragged_range_node
from weft.ops.ragged.tensor import RaggedTensor, Values, is_ragged
from weft.ops.ragged.value import build

# The types that numbers of several types become, narrow to wide.
_WIDTHS: Final = (dtypes.int32, dtypes.int64, dtypes.bfloat16, dtypes.float32, dtypes.float64)


def constant(
    pylist: Nest,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> Values:
    """A constant ragged tensor of nested lists, or a Tensor where they have no ragged dimension.

    Args:
        pylist: nested lists whose scalars all lie at the same depth.
        dtype: the type of the values; by default that of the scalars.
        ragged_rank: how many dimensions are ragged; by default all but the first and those of `inner_shape`.
        inner_shape: the sizes of the dimensions that are not ragged.
        name: the name scope.
        row_splits_dtype: int32 or int64.

    Raises:
        ValueError: the lists do not fit one another, `ragged_rank` or `inner_shape`.
        TypeError: `pylist` is ragged already.
    """
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    kind = as_dtype(row_splits_dtype)

    def inner(values: Nest, shape: tuple[int, ...] | None) -> Values:
        return dense_constant(values, dtype, shape=shape, name="values")

    def outer(values: Values, splits: list[int]) -> Values:
        return RaggedTensor.from_row_splits(values, dense_constant(splits, kind), validate=False)

    with get_default_graph().name_scope(name or "RaggedConstant"):
        return build(pylist, ragged_rank, inner_shape, inner, outer)


def placeholder(dtype: DTypeLike, ragged_rank: int, value_shape: ShapeLike = None, name: str | None = None) -> Values:
    """A ragged tensor that must be fed, by a RaggedTensorValue.

    Args:
        dtype: the type of the values.
        ragged_rank: how many dimensions are ragged; for 0 the result is an ordinary placeholder.
        value_shape: the shape of one of the innermost values; None for any.
        name: the name scope.
    """
    if ragged_rank == 0:
        return dense_placeholder(dtype, value_shape, name)
    with get_default_graph().name_scope(name or "RaggedPlaceholder"):
        result: Values = dense_placeholder(dtype, TensorShape([None]).concatenate(value_shape), "flat_values")
        for level in reversed(range(ragged_rank)):
            splits = dense_placeholder(dtypes.int64, [None], f"row_splits_{level}")
            result = RaggedTensor.from_row_splits(result, splits, validate=False)
        return result


def ragged_range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """Rows of numbers, from each start to its limit in steps of its delta; without limits, from 0 to each start.

    Args:
        starts, limits, deltas: `[nrows]`, or a scalar for all rows.
        dtype: the type of the numbers; by default the widest of the arguments'.
        name: the name scope.
        row_splits_dtype: int32 or int64.

    Returns:
        A ragged tensor `[nrows, (numbers)]`.

    Raises:
        TypeError: what is given is no number.
    """
    if limits is None:
        starts, limits = 0, starts
    with input_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        kind = None if dtype is None else as_dtype(dtype)
        tensors = [
            convert_to_tensor(each, kind, name=label)
            for each, label in ((starts, "starts"), (limits, "limits"), (deltas, "deltas"))
        ]
        if kind is None:
            for each in tensors:
                if each.dtype not in _WIDTHS:
                    names = ", ".join(width.name for width in _WIDTHS)
                    raise TypeError(f"tf.ragged.range makes numbers of {names}, got {each!r}")
            widest = max((each.dtype for each in tensors), key=_WIDTHS.index)
            tensors = [cast(each, widest) for each in tensors]
        splits, values = ragged_range_node(*tensors, Tsplits=as_dtype(row_splits_dtype), name=scope)
        return RaggedTensor.from_row_splits(values, splits, validate=False)

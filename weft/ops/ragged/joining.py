"""concat and stack of ragged tensors, and of tensors that become ragged by it."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.types.dims import brackets
from weft.framework.types.dtypes import DType
from weft.ops.array import joining, stacking
from weft.ops.array.constant import constant
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import reshape
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal
from weft.ops.input_scope import input_scope
from weft.ops.math.scans import cumsum
from weft.ops.ragged.partitions import positive_axis
from weft.ops.ragged.rows import expanded, rows_at
from weft.ops.ragged.tensor import (
    RaggedTensor,
    Values,
    ValuesLike,
    convert_to_tensor_or_ragged_tensor,
    splits_type_of,
)
from weft.ops.ragged.value import RaggedTensorValue


def concat(values: Sequence[ValuesLike], axis: int, name: str | None = None) -> Values:
    """Tensors, ragged ones among them, one after the other along a dimension."""
    if isinstance(values, RaggedTensor | RaggedTensorValue):
        values = [values]
    with input_scope(name, "RaggedConcat"):
        return _joined(_converted(values), axis, stacked=False)


def stack(values: Sequence[ValuesLike], axis: int = 0, name: str | None = None) -> Values:
    """Tensors, ragged ones among them, beside each other along a new dimension, which may be ragged.

    Tensors of unlike sizes become a ragged tensor too: `tf.ragged.stack([[1, 2], [3]])`.

    Args:
        values: the tensors, of one dtype and rank.
        axis: the place of the new dimension.

    Returns:
        A ragged tensor; a Tensor where `values` is one Tensor alone.
    """
    with input_scope(name, "RaggedStack"):
        return _joined(_converted(values), axis, stacked=True)


def _converted(values: Sequence[ValuesLike]) -> list[Values]:
    if not isinstance(values, list | tuple):
        raise TypeError(f"a list of tensors is expected, got {type(values).__name__}")
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    return [convert_to_tensor_or_ragged_tensor(each, name="rt_input") for each in values]


def _joined(tensors: list[Values], axis: int, stacked: bool) -> Values:
    kind = splits_type_of(*tensors)
    ranks = {each.shape.ndims for each in tensors if each.shape.ndims is not None}
    if len(ranks) > 1:
        raise ValueError(f"Shapes {' and '.join(str(each.shape) for each in tensors)} must have the same rank")
    rank = ranks.pop() if ranks else None
    axis = positive_axis(axis, rank if rank is None or not stacked else rank + 1)
    if len(tensors) == 1:
        return expanded(tensors[0], axis) if stacked else tensors[0]
    if not any(isinstance(each, RaggedTensor) for each in tensors) and rank is not None:
        dense = [convert_to_tensor(each) for each in tensors]
        if stacked and axis == rank:
            return stacking.stack(dense, axis)
        if axis == rank - 1:
            return stacking.stack(dense, axis) if stacked else joining.concat(dense, axis)
    made = [as_ragged(each, 1, kind) for each in tensors]
    depth = max(each.ragged_rank for each in made)
    return _along([as_ragged(each, depth, kind) for each in made], axis, stacked)


def as_ragged(tensor: Values, ragged_rank: int, kind: DType) -> RaggedTensor:
    """The tensor with at least so many ragged dimensions."""
    if not isinstance(tensor, RaggedTensor):
        return RaggedTensor.from_tensor(tensor, ragged_rank=ragged_rank, row_splits_dtype=kind)
    if tensor.ragged_rank >= ragged_rank:
        return tensor
    return tensor.with_flat_values(as_ragged(tensor.flat_values, ragged_rank - tensor.ragged_rank, kind))


def _along(tensors: list[RaggedTensor], axis: int, stacked: bool) -> RaggedTensor:
    if axis == 0:
        return _one_after_another(tensors) if not stacked else _as_rows(tensors)
    _check_row_counts(tensors)
    if axis == 1:
        return _row_by_row(tensors, stacked)
    splits = tensors[0].row_splits
    checks = [assert_equal(each.row_splits, splits, message="Inputs must have identical ragged splits")
              for each in tensors[1:] if each.row_splits is not splits]  # fmt: skip
    values = _joined([each.values for each in tensors], axis - 1, stacked)
    return RaggedTensor.from_row_splits(values, with_dependencies(checks, splits), validate=False)


def _check_row_counts(tensors: list[RaggedTensor]) -> None:
    """Refuse tensors of which it is known, before anything runs, that they have other numbers of rows."""
    first = tensors[0].shape
    for number, each in enumerate(tensors[1:], 1):
        if not each.shape[:1].is_compatible_with(first[:1]):
            shapes = f"{brackets(first.as_list())} and {brackets(each.shape.as_list())}"
            raise ValueError(
                f"Dimension 0 in both shapes must be equal, but are {first[0]} and {each.shape[0]}. Shapes are {shapes}: "
                f"values[0] and values[{number}] are joined row by row and need as many rows each; axis 0 joins any"
            )


def _one_after_another(tensors: list[RaggedTensor]) -> RaggedTensor:
    """All rows of the first, then all of the second ..."""
    values = _values_joined(tensors)
    pieces, offset = [tensors[0].row_splits], tensors[0].row_splits[-1]
    for each in tensors[1:]:
        pieces.append(each.row_splits[1:] + offset)
        offset = offset + each.row_splits[-1]
    return RaggedTensor.from_row_splits(values, joining.concat(pieces, axis=0), validate=False)


def _values_joined(tensors: list[RaggedTensor]) -> Values:
    inner = [each.values for each in tensors]
    if isinstance(inner[0], RaggedTensor):
        return _one_after_another(inner)
    return joining.concat(inner, axis=0)


def _as_rows(tensors: list[RaggedTensor]) -> RaggedTensor:
    """Each tensor as one row of the result."""
    counts = cumsum(stacking.stack([each.nrows() for each in tensors]))
    splits = joining.concat([constant([0], counts.dtype), counts], axis=0)
    return RaggedTensor.from_row_splits(_one_after_another(tensors), splits, validate=False)


def _row_by_row(tensors: list[RaggedTensor], stacked: bool) -> RaggedTensor:
    """The first rows of all, as one row or beside each other, then the second ones ..."""
    count = tensors[0].nrows()
    checks = [assert_equal(each.nrows(), count, message="Input tensors have incompatible shapes.") for each in tensors[1:]]
    rows = with_dependencies(checks, range_of(count))
    places = stacking.stack([rows + count * index for index in range(len(tensors))], axis=1)
    mixed = rows_at(_one_after_another(tensors), reshape(places, [-1]))
    assert isinstance(mixed, RaggedTensor)
    if stacked:
        return RaggedTensor.from_row_splits(mixed, range_of(count + 1) * len(tensors), validate=False)
    return RaggedTensor.from_row_splits(mixed.values, mixed.row_splits[:: len(tensors)], validate=False)

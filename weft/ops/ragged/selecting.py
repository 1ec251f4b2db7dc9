"""Elements and rows chosen by conditions: where, boolean_mask; and rows sorted into partitions."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array import selection
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat as dense_concat
from weft.ops.array.ranges import range_of
from weft.ops.array.sequences import argsort
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.stacking import stack as dense_stack
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal, assert_less
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.segment import unsorted_segment_sum
from weft.ops.ragged.joining import concat
from weft.ops.ragged.partitions import lengths_to_splits, same_partitions
from weft.ops.ragged.rows import rows_at
from weft.ops.ragged.tensor import (
    RaggedTensor,
    Values,
    ValuesLike,
    convert_to_tensor_or_ragged_tensor,
    count_rows,
    splits_type_of,
)


def where(condition: ValuesLike, x: ValuesLike | None = None, y: ValuesLike | None = None, name: str | None = None) -> Values:
    """Elements of `x` and `y` by a ragged condition, rows of them by a vector; without them the places that hold.

    Raises:
        ValueError: one of `x` and `y` is missing, or the shapes do not match.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with input_scope(name, "RaggedWhere"):
        found = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None or y is None:
            return _places(found)
        return _chosen(found, convert_to_tensor_or_ragged_tensor(x, name="x"), convert_to_tensor_or_ragged_tensor(y, name="y"))


def _chosen(condition: Values, x: Values, y: Values) -> Values:
    splits_type_of(condition, x, y)
    if isinstance(condition, RaggedTensor):
        if not isinstance(x, RaggedTensor) or not isinstance(y, RaggedTensor):
            raise ValueError("Input shapes do not match.")
        with same_partitions([each.nested_row_splits for each in (condition, x, y)]) as splits:
            values = selection.where(condition.flat_values, x.flat_values, y.flat_values)
            return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
    condition.get_shape().assert_has_rank(1)
    both = concat([x, y], axis=0)
    kind = splits_type_of(both)
    rows = range_of(count_rows(x, kind)), range_of(count_rows(y, kind)) + count_rows(x, kind)
    return rows_at(both, selection.where(condition, *rows))


def _places(condition: Values) -> Tensor:
    if not isinstance(condition, RaggedTensor):
        return selection.where(condition)
    inner = _places(condition.values)
    first = inner[:, 0]
    rows = cast(gather(condition.value_rowids(), first), dtypes.int64)
    columns = first - gather(cast(condition.row_splits, dtypes.int64), rows)
    return dense_concat([expand_dims(rows, 1), expand_dims(columns, 1), inner[:, 1:]], axis=1)


def boolean_mask(data: ValuesLike, mask: ValuesLike, name: str | None = None) -> Values:
    """The elements for which the mask holds, each in its row: ragged for a mask of more than one dimension.

    Args:
        data: a tensor, perhaps ragged.
        mask: a bool tensor, perhaps ragged, whose shape begins that of `data`.

    Raises:
        ValueError: the mask is a scalar, its rank is unknown, or its shape does not begin that of `data`.
    """
    with input_scope(name, "RaggedMask"):
        found = convert_to_tensor_or_ragged_tensor(data, name="data")
        keep = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool, name="mask")
        splits_type_of(found, keep)
        if keep.shape.ndims is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if keep.shape.ndims == 0:
            raise ValueError("mask cannot be scalar.")
        begin = found.shape[: keep.shape.ndims]
        if not begin.is_compatible_with(keep.shape):
            raise ValueError(f"Shapes {begin} and {keep.shape} are incompatible: a mask has the shape that its data begin with")
        return _masked(found, keep)


def _masked(data: Values, mask: Values) -> Values:
    rank = mask.shape.ndims
    assert rank is not None
    if not isinstance(mask, RaggedTensor):
        if rank == 1:
            return rows_at(data, selection.where(mask)[:, 0])
        kind = splits_type_of(data)
        depth = min(data.ragged_rank, rank - 1) if isinstance(data, RaggedTensor) else rank - 1
        return _masked(data, RaggedTensor.from_tensor(mask, ragged_rank=depth, row_splits_dtype=kind))
    kind = mask.row_splits.dtype
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, ragged_rank=mask.ragged_rank, row_splits_dtype=kind)
    with same_partitions([[mask.row_splits], [data.row_splits]]) as [splits]:
        inner = _masked(data.values, mask.values)
        if rank == 2:
            splits = lengths_to_splits(unsorted_segment_sum(cast(mask.values, kind), mask.value_rowids(), mask.nrows()))
        return RaggedTensor.from_row_splits(inner, splits, validate=False)


def stack_dynamic_partitions(
    data: ValuesLike, partitions: ValuesLike, num_partitions: TensorLike, name: str | None = None
) -> RaggedTensor:
    """A row for each partition, of the elements of `data` that belong to it, in order.

    Args:
        data: a tensor, perhaps ragged.
        partitions: the number of the partition of each element; its shape begins that of `data`.
        num_partitions: how many partitions there are, a scalar.
        name: the name scope.

    Raises:
        ValueError: the rank of `partitions` is not known.
    """
    with input_scope(name, "SegmentStack"):
        found = convert_to_tensor_or_ragged_tensor(data, name="data")
        kind = found.row_splits.dtype if isinstance(found, RaggedTensor) else None
        numbers = convert_to_tensor_or_ragged_tensor(partitions, name="partitions", preferred_dtype=kind)
        if numbers.shape.ndims is None:
            raise ValueError("partitions must have known rank.")
        count = cast(convert_to_tensor(num_partitions, name="num_partitions"), kind or numbers.dtype)
        return _partitioned(found, numbers, count)


def _partitioned(data: Values, numbers: Values, count: Tensor) -> RaggedTensor:
    if isinstance(numbers, RaggedTensor) or (numbers.shape.ndims or 0) > 1:
        kind = splits_type_of(data, numbers)
        if not isinstance(data, RaggedTensor):
            data = RaggedTensor.from_tensor(data, row_splits_dtype=kind)
        if not isinstance(numbers, RaggedTensor):
            numbers = RaggedTensor.from_tensor(numbers, row_splits_dtype=kind)
        check = assert_equal(data.row_splits, numbers.row_splits, message="data and partitions have incompatible ragged shapes")
        with get_default_graph().control_dependencies([check]):
            return _partitioned(data.values, numbers.values, count)
    ids = cast(numbers, count.dtype)
    if numbers.shape.ndims == 0:
        ids = reshape(ids, [1])
        data = dense_stack([convert_to_tensor(data)])
    order = argsort(ids, stable=True)
    rows = gather(ids, order)
    check = assert_less(rows[-1:], count, message="partitions must be less than num_partitions")
    return RaggedTensor.from_value_rowids(rows_at(data, order), with_dependencies([check], rows), count, validate=False)


def dynamic_partition(data: ValuesLike, partitions: ValuesLike, num_partitions: int, name: str | None = None) -> list[Values]:
    """The elements of each partition, as a list."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    rows = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [rows[index] for index in range(num_partitions)]  # type: ignore[index]

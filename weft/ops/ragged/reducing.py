"""Reductions over ragged dimensions, and sums and the like over segments of ragged rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.filling import ones_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.ranges import range_of
from weft.ops.input_scope import input_scope
from weft.ops.math import reduce_functions, segment
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.division import truediv
from weft.ops.math.reduce_functions import reduce_max
from weft.ops.math.unary import sqrt
from weft.ops.ragged.nodes import row_ids_node
from weft.ops.ragged.partitions import lengths_of, lengths_to_splits, nrows_of, positive_axis
from weft.ops.ragged.tensor import (
    RaggedTensor,
    Values,
    ValuesLike,
    convert_to_tensor_or_ragged_tensor,
)
from weft.ops.strings import parts
from weft.ops.strings.segments import unsorted_segment_join
from weft.platform.logs.deprecation import deprecated_argument_lookup

Segment = Callable[..., Tensor]
_Axis = int | Sequence[int] | Tensor | None


def over_segments(combine: Segment, data: Values, ids: Tensor, count: Tensor) -> Values:
    """The elements of each segment combined, of a ragged tensor column by column: a row as long as the longest of a segment."""
    if not isinstance(data, RaggedTensor):
        return combine(data, ids, count)
    kind = data.row_splits.dtype
    lengths = lengths_of(data.row_splits)
    longest = maximum(segment.unsorted_segment_max(lengths, ids, count), 0)
    splits = lengths_to_splits(longest)
    rows = row_ids_node(data.row_splits)
    columns = range_of(nrows_of(rows, kind)) - gather(data.row_splits, rows)
    places = gather(splits, gather(cast(ids, kind), rows)) + columns
    values = over_segments(combine, data.values, places, splits[-1])
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def segment_function(combine: Segment, scope: str) -> Callable[..., Values]:
    """The function that combines the rows of each segment of a ragged tensor."""

    def combined(data: ValuesLike, segment_ids: ValuesLike, num_segments: TensorLike, name: str | None = None) -> Values:
        with input_scope(name, scope):
            found = convert_to_tensor_or_ragged_tensor(data, name="data")
            ids = convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids")
            while isinstance(ids, RaggedTensor):
                if not isinstance(found, RaggedTensor):
                    raise ValueError(
                        "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not."
                    )
                found, ids = found.values, ids.values
            return over_segments(combine, found, ids, cast(convert_to_tensor(num_segments), ids.dtype))

    return combined


segment_sum = segment_function(segment.unsorted_segment_sum, "RaggedSegmentSum")
segment_prod = segment_function(segment.unsorted_segment_prod, "RaggedSegmentProd")
segment_min = segment_function(segment.unsorted_segment_min, "RaggedSegmentMin")
segment_max = segment_function(segment.unsorted_segment_max, "RaggedSegmentMax")


def _per_element(root: bool) -> Callable[..., Values]:
    def combined(data: ValuesLike, segment_ids: ValuesLike, num_segments: TensorLike, name: str | None = None) -> Values:
        found = convert_to_tensor_or_ragged_tensor(data)
        total = segment_sum(found, segment_ids, num_segments, name)
        count = segment_sum(_ones(found), segment_ids, num_segments)
        return _ratio(total, count, root)

    return combined


segment_mean = _per_element(root=False)
segment_sqrt_n = _per_element(root=True)


def _ones(data: Values) -> Values:
    return data.with_flat_values(ones_like(data.flat_values)) if isinstance(data, RaggedTensor) else ones_like(data)


def _ratio(total: Values, count: Values, root: bool = False) -> Values:
    top, below = (each.flat_values if isinstance(each, RaggedTensor) else each for each in (total, count))
    result = truediv(top, sqrt(below) if root else below)
    return total.with_flat_values(result) if isinstance(total, RaggedTensor) else result


def _reduced(reduce: Callable[..., Tensor], combine: Segment, tensor: Values, axes: list[int] | None) -> Values:
    """The tensor reduced along several dimensions, the last of them first."""
    if axes is None:
        return reduce(tensor.flat_values if isinstance(tensor, RaggedTensor) else tensor, None)
    for axis in sorted(axes, reverse=True):
        tensor = _reduced_once(reduce, combine, tensor, axis)
    return tensor


def _reduced_once(reduce: Callable[..., Tensor], combine: Segment, tensor: Values, axis: int) -> Values:
    if not isinstance(tensor, RaggedTensor):
        return reduce(tensor, axis)
    splits = tensor.row_splits
    if axis == 0:
        rows = row_ids_node(splits)
        columns = range_of(nrows_of(rows, splits.dtype)) - gather(splits, rows)
        return over_segments(combine, tensor.values, columns, maximum(reduce_max(lengths_of(splits)), 0))
    if axis == 1:
        return over_segments(combine, tensor.values, row_ids_node(splits), tensor.nrows())
    return tensor.with_values(_reduced_once(reduce, combine, tensor.values, axis - 1))


def _axes(axis: _Axis, tensor: Values) -> list[int] | None:
    given: Any = axis
    if isinstance(axis, Tensor):
        known = constant_value(axis)
        if known is None:
            raise ValueError("axis must be known at graph construction time.")
        given = known.tolist()
    if given is None:
        return None
    given = [given] if isinstance(given, int | np.integer) else given
    return [positive_axis(int(each) if isinstance(each, np.integer) else each, tensor.shape.ndims) for each in given]


def _reduction(scope: str, make: Callable[[Values, list[int] | None], Values]) -> Callable[..., Values]:
    def reduced(
        input_tensor: ValuesLike,
        axis: _Axis = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: _Axis = None,
        keep_dims: bool | None = None,
    ) -> Values:
        wanted = deprecated_argument_lookup("axis", axis, "reduction_indices", reduction_indices)
        if keepdims or keep_dims:
            raise ValueError("keepdims=True is not supported for RaggedTensors.")
        tensor = convert_to_tensor_or_ragged_tensor(input_tensor, name="rt_input")
        with input_scope(name, scope):
            return make(tensor, _axes(wanted, tensor))

    return reduced


def _plain(reduce: Callable[..., Tensor], combine: Segment) -> Callable[[Values, list[int] | None], Values]:
    return lambda tensor, axes: _reduced(reduce, combine, tensor, axes)


_sum = _plain(reduce_functions.reduce_sum, segment.unsorted_segment_sum)
_prod = _plain(reduce_functions.reduce_prod, segment.unsorted_segment_prod)


def _mean(tensor: Values, axes: list[int] | None) -> Values:
    return _ratio(_sum(tensor, axes), _sum(_ones(tensor), axes))


def _cast(tensor: Values, dtype: dtypes.DType) -> Values:
    return tensor.with_flat_values(cast(tensor.flat_values, dtype)) if isinstance(tensor, RaggedTensor) else cast(tensor, dtype)


def _through_numbers(make: Callable[[Values, Nest], Values]) -> Callable[[Values, list[int] | None], Values]:
    return lambda tensor, axes: _cast(make(_cast(tensor, dtypes.int32), axes), dtypes.bool)


reduce_sum = _reduction("RaggedReduceSum", _sum)
reduce_prod = _reduction("RaggedReduceProd", _prod)
reduce_min = _reduction("RaggedReduceMin", _plain(reduce_functions.reduce_min, segment.unsorted_segment_min))
reduce_max_of_rows = _reduction("RaggedReduceMax", _plain(reduce_functions.reduce_max, segment.unsorted_segment_max))
reduce_mean = _reduction("RaggedReduceMean", _mean)
reduce_all = _reduction("RaggedReduceAll", _through_numbers(_prod))
reduce_any = _reduction("RaggedReduceAny", _through_numbers(_sum))


def reduce_join(
    inputs: ValuesLike,
    axis: _Axis = None,
    keep_dims: bool | None = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: _Axis = None,
    keepdims: bool | None = None,
) -> Values:
    """The strings along dimensions joined, those of the last dimension first."""

    def all_of(tensor: Tensor, along: int | None) -> Tensor:
        return parts.reduce_join(tensor, along, separator=separator)

    def of_segments(tensor: Tensor, ids: Tensor, count: Tensor) -> Tensor:
        return unsorted_segment_join(tensor, ids, count, separator)

    reduction = _reduction("RaggedReduceJoin", _plain(all_of, of_segments))
    return reduction(inputs, axis, keepdims, name, reduction_indices, keep_dims)

"""Rows chosen, repeated and wrapped: gather, gather_nd, batch_gather, tile, expand_dims, squeeze, size, rank."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.ops.array import batch_gather as dense_batch_gather
from weft.ops.array import gather_scatter, shape_ops, tiling
from weft.ops.array.constant import constant
from weft.ops.array.filling import one_hot
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal, assert_less
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.ragged.dense import ranges
from weft.ops.ragged.nodes import select_rows_node
from weft.ops.ragged.partitions import lengths_of, positive_axis
from weft.ops.ragged.tensor import (
    RaggedTensor,
    Values,
    ValuesLike,
    convert_to_tensor_or_ragged_tensor,
    count_rows,
)


def rows_at(params: Values, rows: Tensor) -> Values:
    """The rows at some places, `[k]`, of a ragged tensor, or the elements of another."""
    if not isinstance(params, RaggedTensor):
        return gather_scatter.gather(params, rows)
    nested = params.nested_row_splits
    *splits, positions = select_rows_node([*nested, cast(rows, nested[0].dtype)], N=len(nested) + 1)
    return RaggedTensor.from_nested_row_splits(gather_scatter.gather(params.flat_values, positions), splits, validate=False)


def gather(
    params: ValuesLike,
    indices: ValuesLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: TensorLike | None = None,
    batch_dims: int = 0,
) -> Values:
    """The rows of `params` at `indices`, either of which may be ragged.

    Raises:
        ValueError: with ragged `params`, an axis or batch dimensions.
    """
    found = convert_to_tensor_or_ragged_tensor(params, name="params")
    places = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    if axis not in (None, 0) or batch_dims != 0:
        raise ValueError("gather: axis and batch_dims are not supported for ragged tensors; tf.batch_gather goes over rows")
    with input_scope(name, "RaggedGather"):
        return _gathered(found, places)


def _gathered(params: Values, indices: Values) -> Values:
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gathered(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return gather_scatter.gather(params, indices)
    rank = indices.shape.ndims
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    if rank == 0:
        values: Values = rows_at(params, reshape(indices, [1])).values  # type: ignore[union-attr]
        return values
    if rank > 1:
        return _gathered(
            params, RaggedTensor.from_tensor(indices, ragged_rank=rank - 1, row_splits_dtype=params.row_splits.dtype)
        )
    return rows_at(params, indices)


def gather_nd(
    params: ValuesLike, indices: ValuesLike, name: str | None = None, batch_dims: int = 0, bad_indices_policy: str = ""
) -> Values:
    """The elements of `params` at the places that the vectors `indices[..., :]` name."""
    if batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    found = convert_to_tensor_or_ragged_tensor(params, name="params")
    places = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    with input_scope(name, "RaggedGatherNd"):
        return _gathered_nd(found, places)


def _gathered_nd(params: Values, indices: Values) -> Values:
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gathered_nd(params, indices.values))
    rank = indices.shape.ndims
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    width = indices.shape.as_list()[-1] if rank else None
    if width is None:
        raise ValueError("indices: the size of the last dimension must be known statically")
    if rank > 2:
        nested = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2)
        result = nested.with_values(_gathered_nd(params, nested.values)) if rank == 3 else _gathered_nd(params, nested)
        return result if isinstance(params, RaggedTensor) and width < params.ragged_rank + 1 else _whole(result, indices)
    if rank == 1:
        found = _gathered_nd(params, reshape(indices, [1, width]))
        return found.values if isinstance(found, RaggedTensor) else found[0]
    while isinstance(params, RaggedTensor) and width > 1:
        indices, params, width = _one_level(params, indices), params.values, width - 1
    if isinstance(params, RaggedTensor):
        return rows_at(params, indices[:, 0])
    return dense_batch_gather.gather_nd(params, indices)


def _one_level(params: RaggedTensor, indices: Tensor) -> Tensor:
    """Places in the values for places in the rows: the first two numbers of each become one."""
    kind = params.row_splits.dtype
    places = cast(indices, kind)
    rows, columns = places[:, 0], places[:, 1]
    lengths = gather_scatter.gather(lengths_of(params.row_splits), rows)
    check = assert_less(columns, lengths, message="gather_nd: an index is beyond the end of its row")
    first = gather_scatter.gather(params.row_splits, rows) + with_dependencies([check], columns)
    return concat([reshape(first, [-1, 1]), places[:, 2:]], axis=1)


def _whole(result: Values, indices: Tensor) -> Tensor:
    flat = result.flat_values if isinstance(result, RaggedTensor) else result
    sizes = shape_of(indices, out_type=dtypes.int64)[:-1]
    return reshape(flat, concat([sizes, shape_of(flat, out_type=dtypes.int64)[1:]], axis=0))


def batch_gather(params: ValuesLike, indices: ValuesLike, name: str | None = None) -> Values:
    """For each row of both, the elements of `params` at the places that `indices` has for this row."""
    found = convert_to_tensor_or_ragged_tensor(params, name="params")
    places = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    rank = places.shape.ndims
    if rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    with input_scope(name, "RaggedBatchGather"):
        return _batch_gathered(found, places)


def _batch_gathered(params: Values, indices: Values) -> Values:
    rank = indices.shape.ndims
    if rank == 1:
        return _gathered(params, indices)
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return dense_batch_gather.batch_gather(params, indices)
    kind = params.row_splits.dtype if isinstance(params, RaggedTensor) else indices.row_splits.dtype  # type: ignore[union-attr]
    if not isinstance(params, RaggedTensor):
        params = RaggedTensor.from_tensor(params, row_splits_dtype=kind)
    if not isinstance(indices, RaggedTensor):
        indices = RaggedTensor.from_tensor(indices, row_splits_dtype=kind)
    if rank is not None and rank > 2:
        check = assert_equal(params.row_splits, indices.row_splits, message="batch shape mismatch")
        splits = with_dependencies([check], indices.row_splits)
        return RaggedTensor.from_row_splits(_batch_gathered(params.values, indices.values), splits, validate=False)
    check = assert_equal(count_rows(params, kind), count_rows(indices, kind), message="batch shape mismatch")
    rows = with_dependencies([check], indices.value_rowids())
    columns = cast(indices.values, kind)
    within = assert_less(columns, gather_scatter.gather(lengths_of(params.row_splits), rows),
                         message="batch_gather: an index is beyond the end of its row")  # fmt: skip
    starts = gather_scatter.gather(params.row_splits, rows)
    return indices.with_values(_gathered(params.values, starts + with_dependencies([within], columns)))


def tile(input: ValuesLike, multiples: TensorLike, name: str | None = None) -> Values:
    """The tensor repeated `multiples[i]` times along each dimension `i`; the rows too, each by itself."""
    found = convert_to_tensor_or_ragged_tensor(input, name="input")
    if not isinstance(found, RaggedTensor):
        return tiling.tile(found, multiples, name)
    times = convert_to_tensor(multiples, name="multiples", dtype=found.row_splits.dtype) if not isinstance(
        multiples, Tensor) else cast(multiples, found.row_splits.dtype)  # fmt: skip
    times.get_shape().assert_has_rank(1)
    with input_scope(name, "RaggedTile", [times]):
        inner = _columns_tiled(found, times)
        return rows_at(inner, tiling.tile(range_of(inner.nrows()), times[:1]))


def _columns_tiled(tensor: RaggedTensor, times: Tensor) -> RaggedTensor:
    """All dimensions but the first repeated."""
    values = tensor.values
    if isinstance(values, RaggedTensor):
        values = _columns_tiled(values, times[1:])
    else:
        values = tiling.tile(values, concat([constant([1], times.dtype), times[2:]], axis=0))
    inner = tensor.with_values(values)
    known = constant_value(times)
    if known is not None and known[1] == 1:
        return inner
    starts, limits = inner.row_splits[:-1], inner.row_splits[1:]
    count = reshape(times[1], [1])
    _, positions = ranges(_each(starts, count), _each(limits, count))
    return RaggedTensor.from_row_splits(rows_at(inner.values, positions), inner.row_splits * times[1], validate=False)


def _each(vector: Tensor, count: Tensor) -> Tensor:
    """Each element so many times."""
    return reshape(tiling.tile(reshape(vector, [-1, 1]), concat([constant([1], count.dtype), count], axis=0)), [-1])


def expand_dims(input: ValuesLike, axis: int | None = None, name: str | None = None, dim: int | None = None) -> Values:
    """A dimension of size 1 more; before or within the ragged dimensions it counts as ragged."""
    found = convert_to_tensor_or_ragged_tensor(input, name="input")
    place = dim if axis is None else axis
    if place is None:
        raise ValueError("expand_dims: axis must be given")
    if not isinstance(found, RaggedTensor):
        return shape_ops.expand_dims(found, place, name)
    rank = None if found.shape.ndims is None else found.shape.ndims + 1
    with input_scope(name, "RaggedExpandDims"):
        return expanded(found, positive_axis(place, rank))


def expanded(tensor: Values, axis: int) -> Values:
    """A dimension of size 1 before the given one, which is not negative."""
    if not isinstance(tensor, RaggedTensor):
        return shape_ops.expand_dims(tensor, axis)
    if axis == 0:
        return RaggedTensor.from_row_splits(tensor, one_row(tensor.nrows()), validate=False)
    if axis == 1:
        return RaggedTensor.from_row_splits(tensor, range_of(tensor.nrows() + 1), validate=False)
    return tensor.with_values(expanded(tensor.values, axis - 1))


def one_row(count: Tensor) -> Tensor:
    """The splits of one row of so many values."""
    return stack([constant(0, count.dtype), count])


def squeeze(
    input: ValuesLike,
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
    squeeze_dims: int | Sequence[int] | None = None,
) -> Values:
    """The tensor without dimensions of size 1, which must be named.

    Raises:
        ValueError: no axis is given.
    """
    wanted = squeeze_dims if axis is None else axis
    found = convert_to_tensor_or_ragged_tensor(input, name="input")
    if not isinstance(found, RaggedTensor):
        return shape_ops.squeeze(found, wanted, name)
    if wanted is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = sorted({positive_axis(each, found.shape.ndims) for each in ([wanted] if isinstance(wanted, int) else wanted)})
    with input_scope(name, "RaggedSqueeze"):
        result: Values = found
        for each in reversed(axes):
            result = _squeezed(result, each)
        return result


def _squeezed(tensor: Values, axis: int) -> Values:
    if not isinstance(tensor, RaggedTensor):
        return shape_ops.squeeze(tensor, axis)
    if axis == 0:
        check = assert_equal(tensor.nrows(), 1, message="squeeze: the first dimension must have size 1")
        return _behind(tensor.values, check)
    if axis == 1:
        check = assert_equal(lengths_of(tensor.row_splits), 1, message="squeeze: the rows must have one element each")
        return _behind(tensor.values, check)
    return tensor.with_values(_squeezed(tensor.values, axis - 1))


def _behind(values: Values, check: object) -> Values:
    if isinstance(values, RaggedTensor):
        return RaggedTensor.from_row_splits(values.values, with_dependencies([check], values.row_splits), validate=False)
    return with_dependencies([check], values)


def size(input: ValuesLike, name: str | None = None, out_type: DTypeLike = dtypes.int32) -> Tensor:
    """The number of innermost values."""
    found = convert_to_tensor_or_ragged_tensor(input, name="input")
    flat = found.flat_values if isinstance(found, RaggedTensor) else found
    return shape_ops.size(flat, name=name, out_type=as_dtype(out_type))


def rank(input: ValuesLike, name: str | None = None) -> Tensor:
    """The number of dimensions, ragged ones included."""
    found = convert_to_tensor_or_ragged_tensor(input, name="input")
    if not isinstance(found, RaggedTensor):
        return shape_ops.rank(found, name)
    if found.shape.ndims is not None:
        return constant(found.shape.ndims, dtypes.int32, name=name or "Rank")
    return shape_ops.rank(found.flat_values) + found.ragged_rank


def ragged_one_hot(
    indices: ValuesLike,
    depth: TensorLike,
    on_value: TensorLike | None = None,
    off_value: TensorLike | None = None,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Values:
    """A vector for each value of a ragged tensor, as `tf.one_hot` makes it."""
    found = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    if not isinstance(found, RaggedTensor):
        return one_hot(found, depth, on_value, off_value, axis, dtype, name)
    if axis is not None and axis != -1:
        axis = positive_axis(axis, found.shape.ndims)
        if axis < found.ragged_rank:
            raise ValueError("axis may not be less than indices.ragged_rank.")
    return found.with_flat_values(one_hot(found.flat_values, depth, on_value, off_value, axis, dtype, name))

"""Between ragged tensors and others: their innermost values and splits as dense and sparse tensors, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import zeros
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import boolean_mask
from weft.ops.array.sequences import sequence_mask
from weft.ops.array.shape_ops import expand_dims, reshape
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.array.tensor_scatter import tensor_scatter_update
from weft.ops.array.tiling import broadcast_to
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_not, maximum, minimum
from weft.ops.math.reduce_functions import reduce_all, reduce_max
from weft.ops.math.scans import cumprod
from weft.ops.ragged.nodes import ragged_range_node, row_ids_node
from weft.ops.ragged.partitions import as_index, lengths_of, lengths_to_splits, nrows_of


def positions(nested: Sequence[Tensor]) -> Tensor:
    """The place of each innermost value, its row and the columns in it: `[nvals, ragged rank + 1]`."""
    columns: list[Tensor] = []
    for splits in nested:
        rows = row_ids_node(splits)
        column = range_of(nrows_of(rows, splits.dtype)) - gather(splits, rows)
        columns = [gather(each, rows) for each in columns] if columns else [rows]
        columns.append(column)
    return stack(columns, axis=1)


def padded(flat: Tensor, nested: Sequence[Tensor], default_value: TensorLike | None) -> Tensor:
    """The least tensor that holds the rows; `default_value` of the shape of an element, or one that broadcasts to it."""
    kind = nested[0].dtype
    inner = shape_of(flat, out_type=kind)[1:]
    if default_value is None:
        default = zeros(inner, flat.dtype)
    else:
        default = convert_to_tensor(default_value, flat.dtype, name="default_value")
        if flat.shape.ndims is not None:
            default.get_shape().with_rank_at_most(flat.shape.ndims - 1)
    sizes = [nrows_of(nested[0], kind) - 1, *(maximum(reduce_max(lengths_of(splits)), 0) for splits in nested)]
    empty = broadcast_to(default, concat([stack(sizes), inner], axis=0))
    result = tensor_scatter_update(empty, positions(nested), flat)
    if flat.shape.ndims is not None:
        dims = nested[0].dims
        rows = None if dims is None or dims[0] is None else dims[0] - 1
        result.set_shape([rows, *[None] * len(nested), *flat.shape.as_list()[1:]])
    return result


def coordinates(flat: Tensor, nested: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The indices and values of the sparse tensor with these elements, whose values have a known rank."""
    outer = cast(positions(nested), dtypes.int64)
    rank = flat.shape.ndims
    assert rank is not None
    if rank == 1:
        return outer, flat
    sizes = shape_of(flat, out_type=dtypes.int64)
    inner = range_of(reshape(sizes[1:2], []))
    columns = [reshape(inner, [-1, 1])]
    for axis in range(2, rank):
        count = nrows_of(columns[0], dtypes.int64)
        following = range_of(sizes[axis])
        columns = [_repeated(each, sizes[axis]) for each in columns]
        columns.append(reshape(broadcast_to(following, stack([count, sizes[axis]])), [-1, 1]))
    block = concat(columns, axis=1)
    count = nrows_of(block, dtypes.int64)
    rows = nrows_of(outer, dtypes.int64)
    spread = broadcast_to(expand_dims(block, 0), stack([rows, count, convert_to_tensor(rank - 1, dtypes.int64)]))
    return concat([_repeated(outer, count), reshape(spread, [-1, rank - 1])], axis=1), reshape(flat, [-1])


def _repeated(table: Tensor, times: Tensor) -> Tensor:
    """Each row of a matrix so many times, one after the other."""
    count = nrows_of(table, dtypes.int64)
    width = shape_of(table, out_type=dtypes.int64)[1]
    return reshape(broadcast_to(expand_dims(table, 1), stack([count, times, width])), stack([count * times, width]))


def masked(tensor: Tensor, mask: Tensor) -> Tensor:
    """The elements of a tensor where a mask, which covers its first dimensions, holds."""
    return boolean_mask(tensor, mask)


def rows_of(
    tensor: Tensor, lengths: TensorLike | None, padding: TensorLike | None, ragged_rank: int, kind: DType
) -> tuple[Tensor, list[Tensor]]:
    """The innermost values and the splits of a tensor of which `ragged_rank` inner dimensions become ragged."""
    sizes = shape_of(tensor, out_type=kind)
    counts = cumprod(sizes)
    outer = [range_of(counts[axis - 1] + 1) * sizes[axis] for axis in range(1, ragged_rank)]
    for level, splits in enumerate(outer):
        rows = _known_product(tensor, level + 1)
        splits.set_shape([None if rows is None else rows + 1])
    if ragged_rank > 1:
        tensor = reshape(tensor, concat([convert_to_tensor([-1], kind), sizes[ragged_rank:]], axis=0))
        sizes = shape_of(tensor, out_type=kind)
    columns = sizes[1]
    if padding is not None:
        lengths = _lengths_without(tensor, padding, columns)
    if lengths is None:
        splits = range_of(sizes[0] + 1) * columns
        rows = _known_product(tensor, 1)
        splits.set_shape([None if rows is None else rows + 1])
        flat = reshape(tensor, concat([stack([sizes[0] * columns]), sizes[2:]], axis=0))
        return flat, [*outer, splits]
    found = as_index(lengths, "lengths", kind)
    found.get_shape().assert_has_rank(1)
    found = maximum(minimum(found, columns), 0)
    return boolean_mask(tensor, sequence_mask(found, columns)), [*outer, lengths_to_splits(found)]


def _known_product(tensor: Tensor, count: int) -> int | None:
    """The product of the first sizes of a tensor as far as the graph's construction knows it."""
    sizes = (None,) if tensor.dims is None else tensor.dims[:count]
    known = [size for size in sizes if size is not None]
    return math.prod(known) if len(known) == len(sizes) else None


def _lengths_without(tensor: Tensor, padding: TensorLike, columns: Tensor) -> Tensor:
    """The length of each row up to its last element that is not the padding."""
    mark = convert_to_tensor(padding, tensor.dtype, name="padding")
    if tensor.shape.ndims is None:
        raise ValueError("RaggedTensor.from_tensor with padding: the rank of the tensor must be known")
    if mark.shape.ndims:
        mark.get_shape().assert_is_compatible_with(tensor.shape[2:])
    is_padding = equal(mark, tensor)
    if tensor.shape.ndims > 2:
        is_padding = reduce_all(is_padding, axis=list(range(2, tensor.shape.ndims)))
    places = cast(logical_not(is_padding), columns.dtype) * expand_dims(range_of(columns) + 1, 0)
    return maximum(reduce_max(places, axis=1), 0)


def rows_of_sparse(sparse: SparseTensor, kind: DType) -> tuple[Tensor, Tensor]:
    """The row of each element of a sparse matrix, and the number of rows; the run checks that no row has gaps.

    Raises:
        ValueError: it is not known to be a matrix.
    """
    ranks = [sparse.dense_shape.dims and sparse.dense_shape.dims[0], sparse.indices.dims and sparse.indices.dims[1]]
    if 2 not in ranks:
        raise ValueError("rank(st_input) must be 2")
    rows, columns = sparse.indices[:, 0], sparse.indices[:, 1]
    same = cast(equal(rows[1:], rows[:-1]), dtypes.int64)
    expected = concat([zeros([1], dtypes.int64)[: nrows_of(rows, dtypes.int32)], (columns[:-1] + 1) * same], axis=0)
    check = assert_equal(columns, expected, message="SparseTensor is not right-ragged")
    return cast(with_dependencies([check], rows), kind), cast(sparse.dense_shape[0], kind)


def ranges(starts: Tensor, limits: Tensor, step: Tensor | int = 1) -> tuple[Tensor, Tensor]:
    """Splits and values of rows of numbers, from each start to its limit."""
    return ragged_range_node(starts, limits, cast(convert_to_tensor(step), starts.dtype), Tsplits=starts.dtype)

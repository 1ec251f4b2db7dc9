"""Broadcasting of two tensors of which one is ragged, dimension by dimension.

A dimension of size 1 takes the other tensor's rows only if it is not ragged: rows that happen to have one element each are no
promise that they always will.
"""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor
from weft.ops.array.gather_scatter import gather
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import expand_dims
from weft.ops.control_flow.ordering import with_dependencies
from weft.ops.debugging.checks import assert_equal
from weft.ops.math.comparison import equal, minimum
from weft.ops.ragged.joining import as_ragged
from weft.ops.ragged.nodes import row_ids_node
from weft.ops.ragged.partitions import lengths_of, lengths_to_splits, nrows_of
from weft.ops.ragged.rows import expanded, rows_at
from weft.ops.ragged.tensor import RaggedTensor, Values, count_rows, splits_type_of

_MISMATCH = "Unable to broadcast: dimension size mismatch in dimension"


def broadcast_pair(x: Values, y: Values) -> tuple[Values, Values]:
    """Both tensors with the same rows; what is not ragged is left to the op's own broadcasting.

    Raises:
        ValueError: a rank is unknown.
    """
    rank_x, rank_y = x.shape.ndims, y.shape.ndims
    if rank_x is None or rank_y is None:
        raise ValueError("Unable to broadcast: unknown rank")
    if not _needs_rows(x, y, rank_y) and not _needs_rows(y, x, rank_x):
        return x, y
    kind = splits_type_of(x, y)
    rank = max(rank_x, rank_y)
    before = rank - rank_x, rank - rank_y
    first, second = _widened(x, before[0]), _widened(y, before[1])
    depth = max(each.ragged_rank for each in (first, second) if isinstance(each, RaggedTensor))
    even = _even(x, before[0], depth), _even(y, before[1], depth)
    return _level(as_ragged(first, depth, kind), as_ragged(second, depth, kind), even[0], even[1], 0)


def _needs_rows(x: Values, y: Values, rank_y: int) -> bool:
    """Whether the other tensor reaches beyond the innermost values of a ragged one."""
    if not isinstance(x, RaggedTensor):
        return False
    inner = x.flat_values.shape.ndims
    return isinstance(y, RaggedTensor) or inner is None or inner <= rank_y


def _widened(tensor: Values, count: int) -> Values:
    for _ in range(count):
        tensor = expanded(tensor, 0) if isinstance(tensor, RaggedTensor) else expand_dims(tensor, 0)
    return tensor


def _even(tensor: Values, before: int, depth: int) -> list[bool]:
    """For each dimension down to the innermost ragged one of both: whether it is not ragged in this tensor."""
    if not isinstance(tensor, RaggedTensor):
        return [True] * (depth + 1)
    ragged = range(before + 1, before + tensor.ragged_rank + 1)
    return [axis not in ragged for axis in range(depth + 1)]


def _level(x: Values, y: Values, even_x: list[bool], even_y: list[bool], axis: int) -> tuple[Values, Values]:
    """Broadcast the rows of two tensors, then what is in them."""
    if axis == 0:
        x, y = _rows(x, y, axis)
    if not isinstance(x, RaggedTensor) or not isinstance(y, RaggedTensor):
        return x, y
    axis += 1
    if not even_x[axis] and not even_y[axis]:
        splits, inner_x, inner_y = _same_rows(x, y, axis), x.values, y.values
    else:
        splits, inner_x, inner_y = _columns(x, y, even_x[axis], even_y[axis], axis)
    inner_x, inner_y = _level(inner_x, inner_y, even_x, even_y, axis)
    return tuple(RaggedTensor.from_row_splits(each, splits, validate=False) for each in (inner_x, inner_y))  # type: ignore[return-value]


def _rows(x: Values, y: Values, axis: int) -> tuple[Values, Values]:
    kind = splits_type_of(x, y)
    sizes = x.shape.as_list()[0], y.shape.as_list()[0]
    if None not in sizes and sizes[0] == sizes[1]:
        return x, y
    rows_x, rows_y = count_rows(x, kind), count_rows(y, kind)
    count = where(equal(rows_x, 1), rows_y, rows_x)
    return _up_to(x, rows_x, count, axis), _up_to(y, rows_y, count, axis)


def _up_to(tensor: Values, rows: Tensor, count: Tensor, axis: int) -> Values:
    check = assert_equal(where(equal(rows, 1), count, rows), count, message=f"{_MISMATCH} {axis}")
    return rows_at(tensor, minimum(range_of(with_dependencies([check], count)), rows - 1))


def _same_rows(x: RaggedTensor, y: RaggedTensor, axis: int) -> Tensor:
    if x.row_splits is y.row_splits:
        return x.row_splits
    check = assert_equal(x.row_splits, y.row_splits, message=f"{_MISMATCH} {axis}")
    return with_dependencies([check], x.row_splits)


def _columns(x: RaggedTensor, y: RaggedTensor, even_x: bool, even_y: bool, axis: int) -> tuple[Tensor, Values, Values]:
    lengths_x, lengths_y = lengths_of(x.row_splits), lengths_of(y.row_splits)
    lengths = where(equal(lengths_x, 1), lengths_y, lengths_x) if even_x else lengths_x
    splits = lengths_to_splits(lengths)
    return splits, _spread(x, lengths_x, lengths, splits, even_x, axis), _spread(y, lengths_y, lengths, splits, even_y, axis)


def _spread(tensor: RaggedTensor, found: Tensor, lengths: Tensor, splits: Tensor, even: bool, axis: int) -> Values:
    """The values of rows of other lengths: of a row of one element always this one."""
    fits = where(equal(found, 1), lengths, found) if even else found
    check = assert_equal(fits, lengths, message=f"{_MISMATCH} {axis}")
    rows = row_ids_node(with_dependencies([check], splits))
    columns = range_of(nrows_of(rows, splits.dtype)) - gather(splits, rows)
    places = gather(tensor.row_splits, rows) + minimum(columns, gather(found, rows) - 1)
    return rows_at(tensor.values, places)

"""Indexing of ragged tensors, `rt[1]`, `rt[:, 2:]`, `rt[..., tf.newaxis]`; importing this module gives it to RaggedTensor."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.ranges import range_of
from weft.ops.control_flow.cond import cond
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal, maximum, minimum
from weft.ops.ragged.dense import ranges
from weft.ops.ragged.rows import one_row, rows_at
from weft.ops.ragged.tensor import RaggedTensor, Values, count_rows, override_operator

_ALL = slice(None, None, None)


def _getitem(tensor: RaggedTensor, key: Nest) -> Values:
    """The row `key`, or what a tuple of keys names: a Tensor where no ragged dimension is left.

    Raises:
        ValueError: a number for a ragged dimension other than the first, whose rows may lack that element.
        IndexError: more keys than dimensions.
    """
    keys = list(key) if isinstance(key, list | tuple) else [key]
    with input_scope(None, "RaggedGetItem", [tensor.row_splits]):
        return _item(tensor, keys)


def _item(tensor: Values, keys: list[Nest]) -> Values:
    if not keys:
        return tensor
    if not isinstance(tensor, RaggedTensor):
        part: Tensor = tensor[tuple(keys)]
        return part
    first, *rest = keys
    if first is Ellipsis:
        return _item(tensor, _without_ellipsis(keys, tensor.shape.ndims))
    if first is None:
        inner = _item(tensor, rest)
        return RaggedTensor.from_row_splits(inner, one_row(count_rows(inner, tensor.row_splits.dtype)), validate=False)
    if isinstance(first, slice):
        rows = tensor if first == _ALL else rows_at(tensor, range_of(tensor.nrows())[first])
        return _inner(rows, rest)
    begin, end = tensor.row_splits[:-1][first], tensor.row_splits[1:][first]
    values = tensor.values
    row = _item(values, [slice(begin, end)]) if isinstance(values, RaggedTensor) else values[begin:end]
    return _item(row, rest)


def _inner(tensor: Values, keys: list[Nest]) -> Values:
    """What the keys name within each row; the rows stay."""
    if not keys:
        return tensor
    if not isinstance(tensor, RaggedTensor):
        part: Tensor = tensor[(_ALL, *keys)]
        return part
    first, *rest = keys
    if first is Ellipsis:
        rank = tensor.shape.ndims
        return _inner(tensor, _without_ellipsis(keys, None if rank is None else rank - 1))
    if first is None:
        inner = _inner(tensor, rest)
        rows = range_of(count_rows(inner, tensor.row_splits.dtype) + 1)
        return RaggedTensor.from_row_splits(inner, rows, validate=False)
    if not isinstance(first, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if first != _ALL:
        tensor = _columns(tensor, first)
    return tensor.with_values(_inner(tensor.values, rest))


def _columns(tensor: RaggedTensor, key: slice) -> RaggedTensor:
    """A slice of each row."""
    step = 1 if key.step is None else key.step
    if convert_to_tensor(step).dtype.is_integer is False:
        raise TypeError("slice strides must be integers or None")
    splits = tensor.row_splits
    starts, limits = splits[:-1], splits[1:]
    begin = starts if key.start is None else _moved(key.start, starts, limits)
    end = limits if key.stop is None else _moved(key.stop, starts, limits)
    chosen, positions = ranges(begin, maximum(end, begin), step)
    return RaggedTensor.from_row_splits(rows_at(tensor.values, positions), chosen, validate=False)


def _moved(offset: int | Tensor, starts: Tensor, limits: Tensor) -> Tensor:
    """The place so far into each row, or so far before its end if negative, but not outside it."""
    if isinstance(offset, int):
        return minimum(starts + offset, limits) if offset >= 0 else maximum(limits + offset, starts)
    if not isinstance(offset, Tensor):
        raise TypeError("slice offsets must be integers or None")
    moved = cast(offset, starts.dtype)
    result: Tensor = cond(
        greater_equal(moved, 0), lambda: minimum(starts + moved, limits), lambda: maximum(limits + moved, starts)
    )
    return result


def _without_ellipsis(keys: Sequence[Nest], rank: int | None) -> list[Nest]:
    """The keys after an ellipsis in front, with slices for the dimensions that it stands for."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    missing = rank - sum(key is not None for key in keys[1:])
    if missing < 0:
        raise IndexError("Too many indices for RaggedTensor")
    return [*[_ALL] * missing, *keys[1:]]


override_operator("__getitem__", _getitem)

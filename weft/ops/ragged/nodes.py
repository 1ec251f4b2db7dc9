"""The ops on row splits that no others express well; what they give depends on the data, so they run on the host."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_def import AtMost
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import not_differentiable, op

INDEX = (dtypes.int32, dtypes.int64)
_NUMBERS = (dtypes.bfloat16, dtypes.float32, dtypes.float64, *INDEX)


def _range_shapes(node: Operation) -> list[Dims]:
    sizes = {dims[0] for tensor in node.inputs if (dims := tensor.dims)} - {None}
    if len(sizes) > 1:
        raise ValueError("starts, limits, and deltas must have the same shape")
    return [(None if not sizes else (sizes.pop() or 0) + 1,), (None,)]


@op("RaggedRange", "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T", infer=_range_shapes,
    ranks={"starts": AtMost(1), "limits": AtMost(1), "deltas": AtMost(1)},
    gradient=not_differentiable, types={"T": _NUMBERS, "Tsplits": INDEX}, defaults={"T": dtypes.int32})  # fmt: skip
def ragged_range_node(
    ctx: OpContext, starts: Array, limits: Array, deltas: Array, *, Tsplits: DType = dtypes.int64
) -> tuple[Result, Result]:
    """For each row the numbers from its start to its limit; a scalar counts for every row: `[n], [n], [n] -> [n + 1], [m]`."""
    rows = max((each.size for each in (starts, limits, deltas) if each.ndim), default=1)
    if any(each.ndim and each.size != rows for each in (starts, limits, deltas)):
        raise InvalidArgumentError.of("starts, limits, and deltas must have the same shape")
    if not np.all(deltas):
        raise InvalidArgumentError.of("Requires delta != 0")
    spread = [np.broadcast_to(each, (rows,)) for each in (starts, limits, deltas)]
    pieces = [np.arange(*bounds, dtype=starts.dtype) for bounds in zip(*spread, strict=True)]
    splits = np.zeros(rows + 1, Tsplits.as_numpy_dtype)
    np.cumsum([len(piece) for piece in pieces], out=splits[1:])
    return splits, np.concatenate([np.empty(0, starts.dtype), *pieces])


def _value_per_row(node: Operation) -> list[Dims]:
    return [(None,)]


@op("RaggedRowIds", "splits: Tsplits -> rowids: Tsplits", infer=_value_per_row, gradient=not_differentiable,
    types={"Tsplits": INDEX})  # fmt: skip
def row_ids_node(ctx: OpContext, splits: Array) -> Result:
    """The row of each value: `[n + 1] -> [m]`."""
    return np.repeat(np.arange(len(splits) - 1, dtype=splits.dtype), np.diff(splits))


def _selected_shapes(node: Operation) -> list[Dims]:
    dims = node.inputs[-1].dims
    count = None if dims is None or dims[0] is None else dims[0] + 1
    return [(count,), *([(None,)] * (len(node.inputs) - 1))]


@op("RaggedSelectRows", "splits_and_rows: N*Tsplits -> splits_and_positions: N*Tsplits", infer=_selected_shapes,
    gradient=not_differentiable, types={"Tsplits": INDEX})  # fmt: skip
def select_rows_node(ctx: OpContext, splits_and_rows: list[Array], *, N: int) -> list[Result]:
    """The splits of the rows listed last, and the positions of their innermost values: `n*[...] -> n*[...]`."""
    *nested, rows = splits_and_rows
    count = len(nested[0]) - 1
    wrong = np.flatnonzero((rows < 0) | (rows >= count))
    if wrong.size:
        raise InvalidArgumentError.of(f"indices[{wrong[0]}] = {rows[wrong[0]]} is not in [0, {count})")
    results = []
    for splits in nested:
        lengths = np.diff(splits)[rows]
        starts = np.zeros(len(rows) + 1, splits.dtype)
        np.cumsum(lengths, out=starts[1:])
        results.append(starts)
        # One selected row's values after the other: where the row begins, and a count within it.
        rows = np.repeat(splits[:-1][rows] - starts[:-1], lengths) + np.arange(starts[-1], dtype=splits.dtype)
    return [*results, rows]

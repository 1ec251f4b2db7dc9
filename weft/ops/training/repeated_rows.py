"""Summing slices that name a row repeatedly, for updates that are made of several ops or written by programs."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.array.row_order import accumulate_rows
from weft.ops.array.shape_ops import INDEX
from weft.ops.declaration import op
from weft.ops.math.elementwise import NUMBERS


def _same_sizes(node: Operation) -> list[Dims]:
    return [tensor.dims for tensor in node.inputs]


def _unknown_count(node: Operation) -> list[Dims]:
    values = node.inputs[0].dims
    return [None if values is None else (None, *values[1:]), (None,)]


@op("SumRepeatedRows", "values: T, indices: Tindices -> summed: T, ordered: Tindices", infer=_same_sizes, gradient=None,
    types={"T": NUMBERS, "Tindices": INDEX})  # fmt: skip
def sum_repeated_rows(xp: ArrayModule, values: Array, indices: Array) -> tuple[Result, Result]:
    """As many slices as before, in the order of their indices: the first of an index has the sum, others are zero.

    `[n, *inner], [n] -> [n, *inner], [n]`

    The number of slices does not depend on the indices, so this may be compiled. What is added to rows, a function of
    the slices that is zero for zero, comes out right.
    """
    count = indices.shape[0]
    if not count:
        return values, indices
    values, indices = xp.asarray(values), xp.asarray(indices)
    order = xp.argsort(indices, kind="stable") if xp is np else xp.argsort(indices)
    ordered = indices[order]
    is_first = xp.concatenate([xp.ones(1, bool), ordered[1:] != ordered[:-1]])
    group = xp.cumsum(is_first) - 1
    if xp is np:
        summed = np.zeros_like(values)
        accumulate_rows(np.add, summed, np.flatnonzero(is_first)[group], values[order])
        return summed, ordered
    totals = xp.zeros_like(values).at[group].add(values[order], indices_are_sorted=True)
    shape = (count, *[1] * (len(values.shape) - 1))
    return xp.where(xp.reshape(is_first, shape), totals[group], xp.zeros_like(values)), ordered


@op("SumDistinctRows", "values: T, indices: Tindices -> summed: T, distinct: Tindices", infer=_unknown_count,
    gradient=None, types={"T": NUMBERS, "Tindices": INDEX})  # fmt: skip
def sum_distinct_rows(ctx: OpContext, values: Array, indices: Array) -> tuple[Result, Result]:
    """The different indices and the sum of the slices of each; their number depends on the indices.

    `[n, *inner], [n] -> [m, *inner], [m]`
    """
    distinct, places = np.unique(indices, return_inverse=True)
    summed = np.zeros((len(distinct), *values.shape[1:]), values.dtype)
    accumulate_rows(np.add, summed, places.reshape(-1), values)
    return summed, distinct

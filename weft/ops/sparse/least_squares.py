"""The normal equations of weighted least squares over a sparse matrix, one system for each of its rows (Hu et al. 2008)."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types.dims import Dims
from weft.ops.declaration import not_differentiable, op
from weft.ops.sparse.layout import check_inside


def _systems(node: Operation) -> list[Dims]:
    factors = node.inputs[0].dims
    size = None if factors is None else factors[-1]
    return [(None, size, size), (None, size)]


def _weights(rows: Array, columns: Array, entry_weights: Array, row_weights: Array, column_weights: Array) -> Array:
    if entry_weights.size == 0:
        return row_weights[rows] * column_weights[columns]
    if row_weights.size or column_weights.size:
        raise InvalidArgumentError.of(
            "To specify the weights for observed entries, either (1) entry_weights must be set or (2) input_weights and "
            "factor_weights must be set, but not both."
        )
    return entry_weights


@op("WALSComputePartialLhsAndRhs", "factors: float32, factor_weights: float32, unobserved_weights: float32, "
    "input_weights: float32, input_indices: int64, input_values: float32, entry_weights: float32, input_block_size: int64, "
    "input_is_transpose: bool -> partial_lhs: float32, partial_rhs: float32",
    ranks={"factors": 2, "input_indices": 2, "input_values": 1}, infer=_systems, gradient=not_differentiable)  # fmt: skip
def wals_compute_partial_lhs_and_rhs(
    ctx: OpContext, factors: Array, factor_weights: Array, unobserved_weights: Array, input_weights: Array,
    input_indices: Array, input_values: Array, entry_weights: Array, input_block_size: Array, input_is_transpose: Array,
) -> Result:  # fmt: skip
    """The part of each row's normal equations that its entries bring: the matrices, and the right-hand sides.

    An entry `[row, column]` with the weight `w` adds `w` times the outer product of its column's factors to the row's matrix,
    and `unobserved_weights + w` times value and factors to its right-hand side.

    `[columns, k], [columns], [], [rows], [n, 2] int64, [n], [n or 0], [] int64, [] bool -> [rows, k, k], [rows, k]`
    """
    if input_values.shape != input_indices.shape[:1]:
        raise InvalidArgumentError.of(
            f"Input input_values' length should match the first dimension of Input input_indices: {input_values.shape[0]} "
            f"values, {input_indices.shape[0]} indices"
        )
    indices = input_indices[:, ::-1] if input_is_transpose else input_indices
    count, size = int(input_block_size), factors.shape[1]
    check_inside(indices, np.asarray((count, factors.shape[0])))
    indices = indices[order := np.argsort(indices[:, 0], kind="stable")]
    rows, columns = indices.T
    own = entry_weights[order] if entry_weights.size else entry_weights
    weights = _weights(rows, columns, own, input_weights, factor_weights)
    matrices, sides = np.zeros((count, size, size), np.float32), np.zeros((count, size), np.float32)
    known, starts = np.unique(rows, return_index=True)
    # A row at a time: the outer products of all entries at once would take entries times k * k numbers.
    for row, begin, end in zip(known, starts, [*starts[1:], len(rows)], strict=True):
        part, weight = factors[columns[begin:end]], weights[begin:end]
        matrices[row] = (part * weight[:, None]).T @ part
        sides[row] = ((unobserved_weights + weight) * input_values[order[begin:end]]) @ part
    return matrices, sides

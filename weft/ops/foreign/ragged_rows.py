"""Ragged tensors whose empty rows get a default value."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Gradients, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types.dims import Dims
from weft.ops.declaration import op
from weft.ops.size_checks import check_equal


def _filled_shapes(node: Operation) -> list[Dims]:
    rows = constant_value(node.inputs[2])
    check_equal(node.inputs[0], 0, node.inputs[1], 0)
    return [(None,), (None,), (None if rows is None else int(rows),), node.inputs[0].dims]


def _filled_gradient(node: Operation, *grads: Tensor | None) -> Gradients:
    if grads[1] is None:
        return [None, None, None, None]
    values, default = ragged_fill_empty_rows_grad(node.outputs[3], grads[1])
    return [None, values, None, default]


@op("RaggedFillEmptyRows", "value_rowids: int64, values: T, nrows: int64, default_value: T -> output_value_rowids: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    ranks={"value_rowids": 1, "values": 1, "nrows": 0, "default_value": 0}, infer=_filled_shapes,
    gradient=_filled_gradient)  # fmt: skip
def ragged_fill_empty_rows(
    ctx: OpContext, value_rowids: Array, values: Array, nrows: Array, default_value: Array
) -> tuple[Result, Result, Result, Result]:
    """The values with the default in each row that had none: `[n], [n], scalar, scalar -> [m], [m], [rows], [n]`."""
    if len(value_rowids) != len(values):
        raise InvalidArgumentError.of(
            f"Length of `values` ({len(values)}) must match the length of `value_rowids` ({len(value_rowids)})"
        )
    if int(nrows) < 0:
        raise InvalidArgumentError.of(f"nrows must not be negative, it is {int(nrows)}")
    indices = np.stack([value_rowids, np.zeros_like(value_rowids)], 1)
    fill = lookup("SparseFillEmptyRows").kernel
    rows, *rest = fill(ctx, indices, values, np.array([int(nrows), 1], np.int64), default_value)
    return rows[:, 0], *rest


@op("RaggedFillEmptyRowsGrad", "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T",
    ranks={"reverse_index_map": 1, "grad_values": 1},
    infer=lambda node: [node.inputs[0].dims, ()], gradient=None)  # fmt: skip
def ragged_fill_empty_rows_grad(ctx: OpContext, reverse_index_map: Array, grad_values: Array) -> tuple[Result, Result]:
    """The gradients of the values, and the sum of those of the filled rows: `[n] int64, [m] -> [n], scalar`."""
    made: tuple[Result, Result] = lookup("SparseFillEmptyRowsGrad").kernel(ctx, reverse_index_map, grad_values)
    return made

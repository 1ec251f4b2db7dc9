"""Conditional accumulators as operations: they sum the gradients of several workers for one update."""

from __future__ import annotations

import json

import numpy as np

from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, outermost
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data_flow.accumulator_state import AccumulatorState, DenseAccumulatorState, SparseAccumulatorState
from weft.ops.declaration import no_outputs, op, scalar_shape
from weft.ops.math.elementwise import NUMBERS

_TYPES = {"dtype": NUMBERS}


def accumulator_handle(ctx: OpContext, kind: type[AccumulatorState], dtype: DType, shape: Dims, reduction_type: str) -> Array:
    """The handle of the node's accumulator, which is made if it is not there."""
    name = str(ctx.attrs.get("shared_name") or ctx.node_name)
    state = ctx.find_or_create(kind, lambda: kind(name, dtype, shape, reduction_type))
    state.check_same(dtype, shape, reduction_type)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(kind)
    return handle


def accumulator_behind(ctx: OpContext, handle: Array) -> AccumulatorState:
    """The accumulator of a handle."""
    kind = handle.item().split(b"\0")[1]
    found: AccumulatorState = ctx.find(
        SparseAccumulatorState if kind == b"SparseAccumulatorState" else DenseAccumulatorState, handle
    )
    return found


def _handle_shape(node: Operation) -> list[Dims]:
    # TensorFlow's shape rule: a container and a name.
    return [(2,)]


@op("ConditionalAccumulator", "-> handle: Ref(string)", infer=_handle_shape, gradient=None, stateful=True, at_once=True,
    types=_TYPES)  # fmt: skip
def conditional_accumulator(ctx: OpContext, *, dtype: DType, shape: Dims, container: str = "", shared_name: str = "",
                            reduction_type: str = "MEAN") -> Result:  # fmt: skip
    """An accumulator of dense gradients: `-> scalar string`."""
    return accumulator_handle(ctx, DenseAccumulatorState, dtype, shape, reduction_type)


@op("SparseConditionalAccumulator", "-> handle: Ref(string)", infer=_handle_shape, gradient=None, stateful=True,
    at_once=True, types=_TYPES)  # fmt: skip
def sparse_conditional_accumulator(
    ctx: OpContext, *, dtype: DType, shape: Dims, container: str = "", shared_name: str = "",
    reduction_type: str = "MEAN",
) -> Result:  # fmt: skip
    """An accumulator of gradients of some rows: `-> scalar string`."""
    return accumulator_handle(ctx, SparseAccumulatorState, dtype, shape, reduction_type)


@op("AccumulatorApplyGradient", "handle: Ref(string), local_step: int64, gradient: dtype ->", infer=no_outputs,
    gradient=None, stateful=True, at_once=True)  # fmt: skip
def accumulator_apply_gradient(ctx: OpContext, handle: Array, local_step: Array, gradient: Array, *, dtype: DType) -> tuple[()]:
    """Add a gradient unless it is stale: `scalar string, scalar int64, [*shape] ->`."""
    accumulator_behind(ctx, handle).apply(ctx, int(local_step), gradient)
    return ()


@op("AccumulatorNumAccumulated", "handle: Ref(string) -> num_accumulated: int32", infer=scalar_shape, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def accumulator_num_accumulated(ctx: OpContext, handle: Array) -> Result:
    """The number of gradients in it: `scalar string -> scalar int32`."""
    return np.asarray(accumulator_behind(ctx, handle).count, np.int32)


@op("AccumulatorReport", "handle: Ref(string) -> report: string", infer=scalar_shape, gradient=None, stateful=True,
    at_once=True)  # fmt: skip
def accumulator_report(ctx: OpContext, handle: Array) -> Result:
    """The contributors to the next update, as JSON; see `AccumulatorState.report`.

    `scalar string -> scalar string`
    """
    report = np.empty((), np.object_)
    report[()] = json.dumps(accumulator_behind(ctx, handle).report()).encode()
    return report


@op("AccumulatorSetGlobalStep", "handle: Ref(string), new_global_step: int64 ->", infer=no_outputs, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def accumulator_set_global_step(ctx: OpContext, handle: Array, new_global_step: Array) -> tuple[()]:
    """Set the step before which gradients are stale: `scalar string, scalar int64 ->`."""
    accumulator_behind(ctx, handle).set_step(int(new_global_step))
    return ()


@op("AccumulatorRestart", "handle: Ref(string), global_step: int64 ->", infer=no_outputs, gradient=None, stateful=True,
    at_once=True)  # fmt: skip
def accumulator_restart(ctx: OpContext, handle: Array, global_step: Array) -> tuple[()]:
    """Drop what is in it and begin at a step, which may be earlier than its own: `scalar string, scalar int64 ->`."""
    accumulator_behind(ctx, handle).restart(int(global_step))
    return ()


@op("AccumulatorLimit", "handle: Ref(string), num_required: int32 ->", infer=no_outputs, gradient=None, stateful=True,
    at_once=True)  # fmt: skip
def accumulator_limit(ctx: OpContext, handle: Array, num_required: Array) -> tuple[()]:
    """Let takers, also those that wait, need so many gradients at most: `scalar string, scalar int32 ->`."""
    accumulator_behind(ctx, handle).limit(int(num_required))
    return ()


@op("AccumulatorJoin", "handle: Ref(string) ->", infer=no_outputs, gradient=None, stateful=True, at_once=True)
def accumulator_join(ctx: OpContext, handle: Array) -> tuple[()]:
    """Know this session as one that will give gradients: `scalar string ->`."""
    accumulator_behind(ctx, handle).join(ctx)
    return ()


@op("AccumulatorLeave", "handle: Ref(string) ->", infer=no_outputs, gradient=None, stateful=True, at_once=True)
def accumulator_leave(ctx: OpContext, handle: Array, *, everyone: bool = False) -> tuple[()]:
    """Note that this session gives no more gradients, or with `everyone` that no session known does: `scalar string ->`."""
    accumulator_behind(ctx, handle).leave(ctx, everyone)
    return ()


def _dense_shape(node: Operation) -> list[Dims]:
    made_by = outermost(node.inputs[0]).op
    return [made_by.attrs.get("shape") if made_by.type == "ConditionalAccumulator" else None]


@op("AccumulatorTakeGradient", "handle: Ref(string), num_required: int32 -> average: dtype", infer=_dense_shape, gradient=None,
    stateful=True, parks=True)  # fmt: skip
def accumulator_take_gradient(ctx: OpContext, handle: Array, num_required: Array, *, dtype: DType) -> Result:
    """Wait for gradients and take their mean: `scalar string, scalar int32 -> [*shape]`."""
    return accumulator_behind(ctx, handle).take(ctx, int(num_required))


@op("SparseAccumulatorApplyGradient",
    "handle: Ref(string), local_step: int64, gradient_indices: int64, gradient_values: dtype, gradient_shape: int64 ->",
    infer=no_outputs, gradient=None, stateful=True, at_once=True)  # fmt: skip
def sparse_accumulator_apply_gradient(
    ctx: OpContext, handle: Array, local_step: Array, gradient_indices: Array, gradient_values: Array,
    gradient_shape: Array, *, dtype: DType, has_known_shape: bool,
) -> tuple[()]:  # fmt: skip
    """Add a gradient of some rows unless it is stale.

    `scalar string, scalar int64, [n] int64, [n, *inner], [rank] int64 ->`
    """
    shape = gradient_shape if has_known_shape else np.zeros(0, np.int64)
    accumulator_behind(ctx, handle).apply(ctx, int(local_step), gradient_indices, gradient_values, shape)
    return ()


def _sparse_shapes(node: Operation) -> list[Dims]:
    made_by = outermost(node.inputs[0]).op
    shape = made_by.attrs.get("shape") if made_by.type == "SparseConditionalAccumulator" else None
    return [(None,), (None, *shape[1:]) if shape else None, (None,)]


@op("SparseAccumulatorTakeGradient", "handle: Ref(string), num_required: int32 -> indices: int64, values: dtype, shape: int64",
    infer=_sparse_shapes, gradient=None, stateful=True, parks=True)  # fmt: skip
def sparse_accumulator_take_gradient(
    ctx: OpContext, handle: Array, num_required: Array, *, dtype: DType
) -> tuple[Result, Result, Result]:
    """Wait for gradients and take the mean of each row.

    `scalar string, scalar int32 -> [n] int64, [n, *inner], [rank] int64`
    """
    indices, values, shape = accumulator_behind(ctx, handle).take(ctx, int(num_required))
    return indices, values, shape

"""Conditional accumulators behind resource handles, as clients of TensorFlow 2 write them."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data_flow.accumulator_state import DenseAccumulatorState
from weft.ops.data_flow.accumulators import accumulator_behind, accumulator_handle
from weft.ops.declaration import no_outputs, op, scalar_shape
from weft.ops.math.elementwise import NUMBERS

_TYPES = {"dtype": NUMBERS}


@op("ResourceConditionalAccumulator", "-> handle: resource", infer=scalar_shape, gradient=None, stateful=True, types=_TYPES)
def resource_conditional_accumulator(
    ctx: OpContext, *, dtype: DType, shape: Dims, container: str = "", shared_name: str = "", reduction_type: str = "MEAN"
) -> Result:
    """An accumulator of dense gradients: `-> scalar resource`."""
    return accumulator_handle(ctx, DenseAccumulatorState, dtype, shape, reduction_type)


@op("ResourceAccumulatorApplyGradient", "handle: resource, local_step: int64, gradient: dtype ->", infer=no_outputs,
    gradient=None, stateful=True, at_once=True, types=_TYPES)  # fmt: skip
def resource_accumulator_apply_gradient(
    ctx: OpContext, handle: Array, local_step: Array, gradient: Array, *, dtype: DType
) -> tuple[()]:
    """Add a gradient unless it is stale: `scalar resource, scalar int64, [*shape] ->`."""
    accumulator_behind(ctx, handle).apply(ctx, int(local_step), gradient)
    return ()


@op("ResourceAccumulatorNumAccumulated", "handle: resource -> num_accumulated: int32", infer=scalar_shape, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def resource_accumulator_num_accumulated(ctx: OpContext, handle: Array) -> Result:
    """The number of gradients in it: `scalar resource -> scalar int32`."""
    return np.asarray(accumulator_behind(ctx, handle).count, np.int32)


@op("ResourceAccumulatorSetGlobalStep", "handle: resource, new_global_step: int64 ->", infer=no_outputs, gradient=None,
    stateful=True, at_once=True)  # fmt: skip
def resource_accumulator_set_global_step(ctx: OpContext, handle: Array, new_global_step: Array) -> tuple[()]:
    """Set the step below which gradients are stale: `scalar resource, scalar int64 ->`."""
    accumulator_behind(ctx, handle).set_step(int(new_global_step))
    return ()


@op("ResourceAccumulatorTakeGradient", "handle: resource, num_required: int32 -> average: dtype", infer=lambda node: [None],
    gradient=None, stateful=True, parks=True, types=_TYPES)  # fmt: skip
def resource_accumulator_take_gradient(ctx: OpContext, handle: Array, num_required: Array, *, dtype: DType) -> Result:
    """Wait for gradients and take their mean: `scalar resource, scalar int32 -> [*shape]`."""
    return accumulator_behind(ctx, handle).take(ctx, int(num_required))

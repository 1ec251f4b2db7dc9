"""The nodes of staging areas: values are put by one step and taken by a later one."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.types.dtypes import DType
from weft.ops.data_flow.staging_state import StagingBuffer
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown


def _buffer(ctx: OpContext, capacity: int, memory_limit: int) -> StagingBuffer:
    return ctx.find_or_create(StagingBuffer, lambda: StagingBuffer(capacity, memory_limit))


@op("Stage", "values: [dtypes] ->", infer=no_outputs, gradient=None, stateful=True, limits={"capacity": 0, "dtypes": 1})
def stage(
    ctx: OpContext, values: Array, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0,
    container: str = "", shared_name: str = "",
) -> tuple[()]:  # fmt: skip
    """Add an element: `components*[*shape] ->`."""
    _buffer(ctx, capacity, memory_limit).put(ctx, tuple(np.asarray(value) for value in values))
    return ()


@op("Unstage", "-> values: [dtypes]", infer=unknown, gradient=None, stateful=True, limits={"capacity": 0, "dtypes": 1})
def unstage(
    ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "", shared_name: str = ""
) -> Array:
    """Take the first element: `-> components*[*shape]`."""
    return _buffer(ctx, capacity, memory_limit).get(ctx)


@op(
    "StagePeek",
    "index: int32 -> values: [dtypes]",
    infer=unknown,
    gradient=None,
    stateful=True,
    limits={"capacity": 0, "dtypes": 1},
)
def stage_peek(
    ctx: OpContext, index: Array, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0,
    container: str = "", shared_name: str = "",
) -> Array:  # fmt: skip
    """Look at an element: `scalar int32 -> components*[*shape]`."""
    return _buffer(ctx, capacity, memory_limit).peek(ctx, int(index))


@op("StageSize", "-> size: int32", infer=scalar_shape, gradient=None, stateful=True, at_once=True, limits={"capacity": 0})
def stage_size(ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
               shared_name: str = "") -> Result:  # fmt: skip
    """The number of elements in it: `-> scalar int32`."""
    return np.asarray(_buffer(ctx, capacity, memory_limit).size, np.int32)


@op("StageClear", "->", infer=no_outputs, gradient=None, stateful=True, at_once=True, limits={"capacity": 0})
def stage_clear(ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
                shared_name: str = "") -> tuple[()]:  # fmt: skip
    """Drop all elements: `->`."""
    _buffer(ctx, capacity, memory_limit).clear()
    return ()

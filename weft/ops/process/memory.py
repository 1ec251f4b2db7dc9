"""The memory of the device that a node is on, as tensors."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Result
from weft.framework.building.op_context import OpContext
from weft.ops.declaration import op, scalar_shape


@op("BytesInUse", "-> out: int64", infer=scalar_shape, gradient=None, stateful=True)
def bytes_in_use(ctx: OpContext) -> Result:
    """The bytes of the device's memory that are in use; on a CPU those of the process: `-> scalar int64`."""
    return np.int64(ctx.memory().in_use)


@op("MaxBytesInUse", "-> out: int64", infer=scalar_shape, gradient=None, stateful=True)
def max_bytes_in_use(ctx: OpContext) -> Result:
    """The most bytes of the device's memory that were in use; on a CPU those of the process: `-> scalar int64`."""
    return np.int64(ctx.memory().peak)


@op("BytesLimit", "-> out: int64", infer=scalar_shape, gradient=None, stateful=True)
def bytes_limit(ctx: OpContext) -> Result:
    """The bytes of the device's memory that may be used; on a CPU the machine's memory: `-> scalar int64`."""
    return np.int64(ctx.memory().limit)

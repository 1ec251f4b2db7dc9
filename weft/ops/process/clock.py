"""The time as a tensor."""

from __future__ import annotations

import time

from weft.framework.building.aliases import Result
from weft.framework.building.op_context import OpContext
from weft.ops.declaration import op, scalar_shape


@op("Timestamp", "-> ts: float64", infer=scalar_shape, gradient=None, stateful=True)
def timestamp(ctx: OpContext) -> Result:
    """The seconds since 1970 at which the node runs: `-> scalar float64`."""
    return time.time()

"""Values of XLA's in host memory."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array
from weft.runtime.xla import xla_process
from weft.runtime.xla.calls_at_exit import calls_at_exit


def as_numpy(value: Array) -> Array:
    """The value as an array in host memory; blocks until it is computed, copies nothing on the CPU.

    Raises:
        RuntimeError: the array was donated meanwhile, or ForkedProcessError.
    """
    if isinstance(value, np.ndarray):
        return value
    xla_process.check()
    with calls_at_exit:
        return np.asarray(value)

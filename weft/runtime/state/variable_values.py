"""Variables' values in host memory, for who holds their locks and for who does not."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array
from weft.runtime.state.host_values import as_numpy
from weft.runtime.state.variable_slot import TakenValue, VariableSlot


def value_of(slot: VariableSlot) -> Array:
    """A variable's value in host memory, where compiled code may have left it as a JAX array; None when there is none."""
    value = slot.value
    if type(value) is np.ndarray or value is None:
        return value
    try:
        return as_numpy(value)
    except RuntimeError:
        # Donated between taking the reference and looking at it; who did so holds the lock until there is a newer one.
        with slot.lock:
            return as_numpy(slot.value)


def locked_value_of(slot: VariableSlot) -> Array:
    """As `value_of`, for who holds the lock; while the variable is being updated in place, what stands for its value."""
    value = slot.value
    return value if value is None or isinstance(value, np.ndarray | TakenValue) else as_numpy(value)

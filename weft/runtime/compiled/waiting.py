"""Waiting for what XLA computes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.runtime.state.variable_slot import VariableSlot

_SHORTEST_LOOK_S: Final = 5e-5
_LONGEST_LOOK_S: Final = 0.01


def wait_or_raise(values: Sequence[Array], check: Callable[[], None]) -> None:
    """As `wait_until_ready`, for an execution that takes long: `check` is called meanwhile, and may raise to end the wait.

    It looks, rather than blocks in XLA: there neither an interrupt nor the end of the process would find the thread. The time
    between two looks is a hundredth of what has passed.
    """
    value = next((value for value in values if not isinstance(value, np.ndarray)), None)
    if value is None:
        return
    begin_s = time.monotonic()
    while not value.is_ready():
        check()
        time.sleep(min(max((time.monotonic() - begin_s) / 100, _SHORTEST_LOOK_S), _LONGEST_LOOK_S))
    # What went wrong in it is told now.
    value.block_until_ready()


def wait_until_ready(values: Sequence[Array]) -> None:
    """Block until the execution that makes these values is over; what one makes is ready at once."""
    for value in values:
        if not isinstance(value, np.ndarray):
            value.block_until_ready()
            return


def wait_for_updates(values: Sequence[Array], slots: Sequence[VariableSlot]) -> None:
    """Block until the execution that makes these values of variables is over.

    Another step may take them meanwhile, to write what it makes into their memory: then that one's execution is waited for.
    """
    while True:
        try:
            return wait_until_ready(values)
        except RuntimeError:
            if not any(_is_taken(value) for value in values):
                raise
        # Who updates a variable on the host has waited for its value first.
        values = [value for slot in slots if hasattr(value := slot.value, "is_deleted")]


def _is_taken(value: Array) -> bool:
    return not isinstance(value, np.ndarray) and bool(value.is_deleted())

"""How a running program reaches the variables: in the slots of its task, with or without their locks, or as traced values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from weft.platform.interrupts import deferred_interrupts
from weft.runtime.state.variable_slot import TakenValue, VariableSlot, held, locks_of
from weft.runtime.xla.xla_process import as_numpy


class State(Protocol):
    """How a running program reaches the variables."""

    def read(self, index: int) -> Any:
        """The current value, None when there is none."""
        ...

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Replace the values at the indices by what the function makes of them, all at once."""
        ...


class SlotState:
    """State that lives in the task's slots."""

    def __init__(self, slots: Sequence[VariableSlot]) -> None:
        self._slots = slots
        # Whether loops that are interpreted may go on compiled when they are long.
        self.compiles_loops = False

    def read(self, index: int) -> Any:
        """The slot's value in host memory; a compiled stage may have left it as a JAX array."""
        slot = self._slots[index]
        value = slot.value
        if type(value) is np.ndarray or value is None:
            return value
        try:
            return as_numpy(value)
        except RuntimeError:
            # Donated between taking the reference and looking at it; who did so holds the lock until there is a newer one.
            with slot.lock:
                return as_numpy(slot.value)

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Update the slots under their locks, taken in the one order that there is."""
        slots = [self._slots[index] for index in indices]
        with deferred_interrupts(), held(locks_of(slots)):
            for slot, value in zip(slots, function([slot.value for slot in slots]), strict=True):
                slot.put(value)


class LockedState:
    """State in the slots of a stage that holds all their locks while it runs, and changes arrays in place where it can."""

    def __init__(self, slots: Sequence[VariableSlot]) -> None:
        self._slots = slots

    def read(self, index: int) -> Any:
        """The slot's value in host memory; while it is being updated, what stands for it."""
        value = self._slots[index].value
        return value if value is None or isinstance(value, np.ndarray | TakenValue) else as_numpy(value)

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Update the slots; the function gets arrays that it may write to."""
        slots = [self._slots[index] for index in indices]
        try:
            for slot, value in zip(slots, function([slot.take() for slot in slots]), strict=True):
                slot.put(value)
        finally:
            for slot in slots:
                slot.put_back()


class TracedState:
    """State threaded through a function that is being traced."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def read(self, index: int) -> Any:
        """The traced value."""
        return self.values[index]

    def update(self, indices: Sequence[int], function: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Replace the traced values."""
        new = function([self.values[index] for index in indices])
        for index, value in zip(indices, new, strict=True):
            self.values[index] = value

"""VariableSlot: the place where a task keeps one variable's value."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from weft.framework.dtypes import DType
from weft.framework.tensor_shape import Dims


class VariableSlot:
    """One immutable array, or None before initialization; an update swaps it.

    Reading takes a reference and no lock. Who updates holds `lock` from reading the old value to setting the new one, so that
    no update is lost; a compiled stage donates the old array, which is then gone for readers that come too late: they read
    again.
    """

    __slots__ = ("dims", "dtype", "is_declared", "lock", "name", "value")

    def __init__(self, name: str, dtype: DType, dims: Dims = None, is_declared: bool = True) -> None:
        self.name = name
        self.dtype = dtype
        # What the first program declared; the value may have another shape, where an assignment did not validate it.
        self.dims = dims
        # Asking whether a variable has a value makes a slot, and declares nothing.
        self.is_declared = is_declared
        self.value: Any = None
        self.lock = threading.Lock()

    def declare(self, dtype: DType, dims: Dims) -> None:
        """Take the declaration of the first program that reads or assigns the variable."""
        with self.lock:
            if not self.is_declared:
                self.dtype, self.dims, self.is_declared = dtype, dims, True

    def update(self, function: Callable[[Any], Any]) -> Any:
        """Replace the value by `function(value)` under the lock, and return the new one."""
        with self.lock:
            self.value = function(self.value)
            return self.value


def locks_of(slots: Iterable[VariableSlot]) -> list[threading.Lock]:
    """The locks of the slots, each once, in the one order in which whoever needs several takes them."""
    return [slot.lock for slot in sorted(set(slots), key=lambda slot: (slot.name, id(slot)))]

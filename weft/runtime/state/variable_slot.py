"""VariableSlot: the place where a task keeps one variable's value."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft.framework.dtypes import DType
from weft.framework.tensor_shape import Dims
from weft.platform.aligned_memory import aligned_copy
from weft.runtime.xla.xla_process import as_numpy


class TakenValue:
    """What a slot holds while its array is changed in place. Whoever needs the value waits for the slot's lock."""

    __slots__ = ("dtype", "nbytes", "shape", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.shape = value.shape
        self.dtype = value.dtype
        self.nbytes = value.nbytes

    def __array__(self, *_: Any) -> Any:
        """As with an array that was donated: RuntimeError."""
        raise RuntimeError("the variable is being updated; read it under its lock")


class VariableSlot:
    """One immutable array, or None before initialization; an update swaps it.

    Reading takes a reference and no lock. Who updates holds `lock` from reading the old value to setting the new one, so that
    no update is lost; a compiled stage donates the old array, which is then gone for readers that come too late: they read
    again. So it is with an update that takes the array to change it in place.
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
            self.put(function(self.value))
            return self.value

    def take(self) -> Any:
        """For who holds the lock: the value as an array to change in place, None when there is none.

        It is the slot's own array if nobody else can see it, else a copy. Nobody finds the value until one is `put` back.
        """
        value = self.value
        if value is None:
            return None
        # From here on no reader finds the array; one that has it already is counted.
        self.value = TakenValue(value)
        if not isinstance(value, np.ndarray):
            return aligned_copy(as_numpy(value))
        base = value.base
        # Counted are the name here, the argument, what now stands in the slot, and for a base the array that lies in it.
        # A base that is read-only was made together with other variables' values, and cannot be opened through this one.
        is_own = sys.getrefcount(value) == 3 and (
            base is None
            or (type(base) is np.ndarray and base.base is None and sys.getrefcount(base) == 3 and base.flags.writeable)
        )
        if not is_own:
            return aligned_copy(value)
        value.flags.writeable = True
        return value

    def put(self, value: Any) -> None:
        """For who holds the lock: set the value, which nobody changes any more."""
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                # Such as one element seen many times, which an initializer makes: every send would write it out again.
                value = value.copy() if value.dtype.hasobject else aligned_copy(value)
            # A fetch may hand the same array to the program, which then gets a copy.
            value.flags.writeable = False
        self.value = value

    def put_back(self) -> None:
        """For who holds the lock: end a `take` without a new value."""
        if isinstance(self.value, TakenValue):
            self.put(self.value.value)


def locks_of(slots: Iterable[VariableSlot]) -> list[threading.Lock]:
    """The locks of the slots, each once, in the one order in which whoever needs several takes them."""
    return [slot.lock for slot in sorted(set(slots), key=lambda slot: (slot.name, id(slot)))]


class held:
    """A block that holds locks, which are in that order. For code that no signal handler interrupts."""

    __slots__ = ("_locks",)

    def __init__(self, locks: Sequence[threading.Lock]) -> None:
        self._locks = locks

    def __enter__(self) -> None:
        for lock in self._locks:
            lock.acquire()

    def __exit__(self, *exc_info: object) -> None:
        for lock in self._locks:
            lock.release()

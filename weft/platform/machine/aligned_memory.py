"""Memory for arrays that XLA can use where it lies; NumPy's own begins anywhere, and XLA copies what is not aligned.

Memory can be lent as one array at a time. Every array that is made of the lent one without a copy keeps that one alive, so a
weak reference to it tells, once it is dead, that nobody looks at the memory any more. An interpreter may be late to notice;
then the memory counts as in use for longer, and nothing else happens. A foreign library that has only
an address has to keep one of the arrays.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Final, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

ALIGNMENT: Final = 64
"""Where memory must begin, a multiple of so many bytes, for XLA to alias it."""

Memory: TypeAlias = "ctypes.Array[ctypes.c_char]"
HostArray: TypeAlias = npt.NDArray[np.generic]
ElementT = TypeVar("ElementT", bound=np.generic)

# Tells an address in a third of the time that NumPy takes for it.
_first_char = cast("Callable[[npt.NDArray[np.uint8]], ctypes.c_char]", ctypes.c_char.from_buffer)


def aligned_memory(size_bytes: int) -> Memory:
    """New memory that begins at a multiple of ALIGNMENT, with whatever was in it.

    ctypes makes a class for each size, which takes longer than the memory does: use it for memory that is kept.

    Raises:
        MemoryError, ValueError: there is not so much.
    """
    room = np.empty(size_bytes + ALIGNMENT, np.uint8)
    return (ctypes.c_char * size_bytes).from_buffer(room.data, -ctypes.addressof(_first_char(room)) % ALIGNMENT)


def lent(memory: Memory, shape: tuple[int, ...], dtype: np.dtype[ElementT]) -> npt.NDArray[ElementT]:
    """An array over the beginning of memory, on which all arrays that are made of it without a copy depend.

    NumPy lets an array depend on the last array before whatever else owns the memory. So the owner is no array here: with one,
    the views of what is lent would pass it over and depend on the owner alone.
    """
    return np.ndarray(shape, dtype, memory)  # type: ignore[arg-type]  # its stubs do not list all that has a buffer


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[ElementT] | type[ElementT]) -> npt.NDArray[ElementT]:
    """An array with whatever was in its memory, which begins at a multiple of ALIGNMENT; of Python objects, None."""
    kind: np.dtype[ElementT] = np.dtype(dtype)
    if kind.hasobject:
        return np.empty(shape, kind)
    size = math.prod(shape) * kind.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -ctypes.addressof(_first_char(memory)) % ALIGNMENT
    return memory[start : start + size].view(kind).reshape(shape)


def aligned_copy(array: HostArray) -> HostArray:
    """A contiguous copy of an array, in such memory."""
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def is_aligned(array: HostArray) -> bool:
    """Whether a NumPy array is contiguous and begins at a multiple of ALIGNMENT."""
    address: int = array.__array_interface__["data"][0]
    return bool(array.flags.c_contiguous) and address % ALIGNMENT == 0

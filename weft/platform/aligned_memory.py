"""Memory for arrays that XLA can use where it lies; NumPy's own begins anywhere, and XLA copies what is not aligned."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Final

import numpy as np

ALIGNMENT: Final = 64
"""Where memory must begin, a multiple of so many bytes, for XLA to alias it."""


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array with whatever was in its memory, which begins at a multiple of ALIGNMENT; of Python objects, None."""
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        return np.empty(shape, dtype)
    size = math.prod(shape) * dtype.itemsize
    memory: Any = np.empty(size + ALIGNMENT, np.uint8)
    start = -ctypes.addressof(ctypes.c_char.from_buffer(memory)) % ALIGNMENT  # in a third of the time that NumPy takes to tell
    return memory[start : start + size].view(dtype).reshape(shape)


def aligned_copy(array: Any) -> Any:
    """A contiguous copy of an array, in such memory."""
    copy = aligned_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def is_aligned(array: Any) -> bool:
    """Whether a NumPy array is contiguous and begins at a multiple of ALIGNMENT."""
    address: int = array.__array_interface__["data"][0]
    return bool(array.flags.c_contiguous) and address % ALIGNMENT == 0

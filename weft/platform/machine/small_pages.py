"""Memory that a process gets in small pages while it is filled, and that the system may make huge pages of later.

NumPy asks for huge pages from 4 MB on. For those the system takes memory that nothing has used yet, and under a virtual machine
whose host gives memory only when it is touched that is the dearest: 172 MB of first values cost 0.24 to 0.30 s of the kernel's
time, in small pages 0.08 to 0.10 (two cores of a virtual machine, December 2026). Joined in the background, pages of a table
whose rows are read at random still become huge.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

ElementT = TypeVar("ElementT", bound=np.generic)

_LEAST_BYTES: Final = 1 << 22  # for fewer NumPy has small pages itself
_MADVISE: Final = getattr(mmap, "MADV_HUGEPAGE", None)


def empty_in_small_pages(
    shape: tuple[int, ...], dtype: np.dtype[ElementT] | type[ElementT]
) -> tuple[npt.NDArray[ElementT], Callable[[], None]]:
    """A new array, of anything but objects, and what is to be called when it is filled: its pages may be joined then."""
    kind: np.dtype[ElementT] = np.dtype(dtype)
    size_bytes = math.prod(shape) * kind.itemsize
    if size_bytes < _LEAST_BYTES or _MADVISE is None:
        return np.empty(shape, kind), _nothing
    pages = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(pages, kind).reshape(shape), lambda: pages.madvise(_MADVISE)


def _nothing() -> None:
    return None

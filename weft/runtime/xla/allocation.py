"""How the C library gives memory back to the system.

A compiled step takes its temporary arrays in one large piece and frees it at the end; a server's step takes memory for what it
receives. The C library returns pieces of that size to the system at once, and each step then pays for touching new pages: a
third of the time of a small CNN's training step. Told to keep what is freed, the next step finds it.
"""

from __future__ import annotations

import ctypes
from typing import Final

# Parameters of glibc's mallopt, and the greatest value that they take.
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_NEVER: Final = 2**31 - 1

_OF_A_STEP: Final = 32 << 20  # larger arrays are variables, and what initializing them leaves behind


def keep_freed_memory() -> None:
    """Let the process keep the memory that it frees, for its next allocations; does nothing but on glibc."""
    _set_thresholds(_NEVER, _NEVER)


def keep_some_freed_memory() -> None:
    """Let the process keep pieces of the sizes that a step without compiled code takes; does nothing but on glibc."""
    _set_thresholds(_OF_A_STEP, 4 * _OF_A_STEP)


def _set_thresholds(mapped_bytes: int, trimmed_bytes: int) -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, mapped_bytes)
        mallopt(_TRIM_THRESHOLD, trimmed_bytes)

"""How the C library gives memory back to the system.

A compiled step takes its temporary arrays in one large piece and frees it at the end. The C library returns pieces of that
size to the system at once, and each step then pays for touching new pages: a third of the time of a small CNN's training
step. Told to keep what is freed, the next step finds it.
"""

from __future__ import annotations

import ctypes
from typing import Final

# Parameters of glibc's mallopt, and the greatest value that they take.
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_NEVER: Final = 2**31 - 1


def keep_freed_memory() -> None:
    """Let the process keep the memory that it frees, for its next allocations; does nothing but on glibc."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _NEVER)
        mallopt(_TRIM_THRESHOLD, _NEVER)

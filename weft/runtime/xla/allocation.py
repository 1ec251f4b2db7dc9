"""How the C library gives memory back to the system.

A compiled step takes its temporary arrays in one large piece and frees it at the end; a server's step takes memory for what it
receives, an interpreted one for each array. The C library returns pieces of that size to the system at once, and each step then
touches new pages, 4 KB each, which the kernel clears for it. Told to keep what is freed, the next step finds it.

The C library gives other threads than the first heaps of their own, of 64 MB at most: a larger piece is mapped anew each
time, and a heap that is empty goes back whatever is to be kept. XLA's threads are such ones. The step of ResNet-20, which takes
76 MB, touched 18,540 new pages so, and that of the small CNN 1,494; none with one heap for all threads.
Small pieces come from each thread's cache without a lock, as before.
`tests/runtime/xla/test_allocation.py` counts the pages of a step.
"""

from __future__ import annotations

import ctypes
from typing import Final

# Parameters of glibc's mallopt, and the greatest value that the thresholds take.
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8
_NEVER: Final = 2**31 - 1

_OF_A_STEP: Final = 32 << 20  # larger arrays are variables, and what initializing them leaves behind


class _Kept:
    """What the process was told last: it is never told to keep less again."""

    def __init__(self) -> None:
        self._trimmed_bytes = 0

    def set_thresholds(self, mapped_bytes: int, trimmed_bytes: int) -> None:
        """Keep arrays up to the first size, and so much free memory in all."""
        if trimmed_bytes <= self._trimmed_bytes:
            return
        self._trimmed_bytes = trimmed_bytes
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_MMAP_THRESHOLD, mapped_bytes)
            mallopt(_TRIM_THRESHOLD, trimmed_bytes)
            # Threads that have a heap already stay with it; so this comes before XLA's are there.
            mallopt(_ARENA_MAX, 1)


_kept: Final = _Kept()


def keep_freed_memory() -> None:
    """Let the process keep the memory that it frees, for its next allocations; does nothing but on glibc."""
    _kept.set_thresholds(_NEVER, _NEVER)


def keep_some_freed_memory() -> None:
    """Let the process keep pieces of the sizes that a step without compiled code takes; does nothing but on glibc."""
    _kept.set_thresholds(_OF_A_STEP, 4 * _OF_A_STEP)

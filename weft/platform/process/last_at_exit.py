"""What Python's end has to do for weft behind all that a program, and JAX, have registered for it since weft was imported.

Their functions may still run steps, and need the threads that the last of weft's may leave behind.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from typing import Final

_CALLS: Final[list[Callable[[], object]]] = []


def at_last(call: Callable[[], object]) -> None:
    """Call it at Python's end, behind what `atexit` has registered since `import weft`, and the last given first."""
    _CALLS.append(call)


def _end() -> None:
    while _CALLS:
        _CALLS.pop()()


# What was registered first is called last.
atexit.register(_end)

"""Calls of XLA from threads that nobody waits for, such as the first run of a step that was given up while it compiled.

The end of the process waits for them: a thread that comes back from C++ into an interpreter that is gone aborts the process.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from typing import Final

_LONGEST_S: Final = 120.0
_LOOK_S: Final = 0.01


class CallsAtExit:
    """A block that calls XLA. Any number of threads may be in one; there is one object, `calls_at_exit`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0

    def __enter__(self) -> None:
        with self._lock:
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count -= 1

    def wait(self) -> None:
        """Block until nobody is in a block, for a compilation's time at most."""
        deadline_s = time.monotonic() + _LONGEST_S
        while self._count and time.monotonic() < deadline_s:
            time.sleep(_LOOK_S)

    def forget(self) -> None:
        """In a forked child, which has none of the threads."""
        self._lock = threading.Lock()
        self._count = 0


calls_at_exit: Final = CallsAtExit()
atexit.register(calls_at_exit.wait)
os.register_at_fork(after_in_child=calls_at_exit.forget)

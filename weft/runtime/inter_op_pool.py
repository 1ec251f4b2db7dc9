"""InterOpPool: threads for what may block, so that no client's or connection's thread does.

The pool has as many threads as are busy: a blocked dequeue must never keep the enqueue that would wake it from running.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

_IDLE_S = 10.0


class InterOpPool:
    """Runs functions on daemon threads that are kept for a while when idle. Safe from any thread; forgets its threads in a
    forked child."""

    def __init__(self, name: str = "inter-op") -> None:
        self._name = name
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._pid = os.getpid()

    def submit(self, function: Callable[[], None]) -> None:
        """Run `function` soon; it must not raise."""
        if self._pid != os.getpid():
            self.__init__(self._name)  # type: ignore[misc]
        with self._lock:
            spare = self._idle > 0
            if spare:
                self._idle -= 1
            self._tasks.put(function)
        if not spare:
            threading.Thread(target=self._work, name=f"weft-{self._name}", daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                function = self._tasks.get(timeout=_IDLE_S)
            except Empty:
                with self._lock:
                    if self._tasks.empty() and self._idle > 0:
                        self._idle -= 1
                        return
                continue
            function()
            # An idle thread must not keep a step alive.
            del function
            with self._lock:
                self._idle += 1

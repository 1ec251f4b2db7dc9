"""Sweeper: the thread that looks, now and then, for what nobody owns any more."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

SWEEP_S: Final = 10.0
"""How often; what it looks for is measured in minutes."""

_LOG: Final = logging.getLogger("weft")


class Sweeper:
    """Calls its duties from `start` to `stop`, on a thread of its own.

    Args:
        name: the thread's.
        duties: what is done each time, in order; one that fails is logged, and the others go on.
        every_s: how often.
    """

    def __init__(self, name: str, duties: Sequence[Callable[[], None]], every_s: float = SWEEP_S) -> None:
        self._duties = tuple(duties)
        self._every_s = every_s
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; blocks while a duty is being done. Not started, or a second time, it does nothing."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()

    def sweep(self) -> None:
        """Do every duty once, on this thread."""
        for duty in self._duties:
            try:
                duty()
            except Exception:
                _LOG.exception("%s: %s failed", self._thread.name, getattr(duty, "__name__", duty))

    def _run(self) -> None:
        while not self._stopped.wait(self._every_s):
            self.sweep()

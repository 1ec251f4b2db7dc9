"""StepGate: holds the steps of a replica that trains while a chief replaces the values of the model."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from weft.platform.waits.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.waits")
_POLL_S: Final = 0.01


class StepGate:
    """Threads take steps through it, another one closes and opens it."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self._in_step: set[int] = set()  # threads

    @property
    def is_open(self) -> bool:
        """Whether steps may begin."""
        return self._open.is_set()

    def begin_step(self) -> None:
        """Note that a step begins; blocks while the gate is closed."""
        thread = threading.get_ident()
        while True:
            # In this order: who closes the gate sees the step, or the step sees that it is closed.
            self._in_step.add(thread)
            if self._open.is_set():
                return
            self._in_step.discard(thread)
            notice = WaitNotice()
            while not self._open.wait(notice.left_s):
                if notice.is_due():
                    _LOG.warning(
                        "A step has waited %.0f s for the chief, which gives the model its values, from a checkpoint or anew. "
                        "It begins when they are there: look at the chief's log.", notice.waited_s,
                    )  # fmt: skip

    def end_step(self) -> None:
        """Note that a step is over."""
        self._in_step.discard(threading.get_ident())

    def close(self, limit_s: float) -> bool:
        """Let no step begin any more; returns whether those that run have ended within so many seconds."""
        self._open.clear()
        deadline_s = time.monotonic() + limit_s
        while self._in_step:
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(_POLL_S)
        return True

    def open(self) -> None:
        """Let steps begin."""
        self._open.set()

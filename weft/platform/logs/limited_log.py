"""The log of what peers do wrong, which no peer can fill: each place in the code writes a burst, then a few lines a second."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

BURST: Final = 50
PER_SECOND: Final = 1.0


class _Allowance:
    """What one place may still write; a token bucket."""

    __slots__ = ("left_out", "tokens", "updated_s")

    def __init__(self, now_s: float) -> None:
        self.tokens = float(BURST)
        self.updated_s = now_s
        self.left_out = 0

    def take(self, now_s: float) -> bool:
        """Take a token if there is one."""
        self.tokens = min(BURST, self.tokens + (now_s - self.updated_s) * PER_SECOND)
        self.updated_s = now_s
        if self.tokens < 1:
            self.left_out += 1
            return False
        self.tokens -= 1
        return True


class RateLimit(logging.Filter):
    """Lets each place in the code write `BURST` records at once, and then `PER_SECOND`; says how many were left out.

    Safe from any thread.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._places: dict[tuple[str, int], _Allowance] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written."""
        now_s = time.monotonic()
        with self._lock:
            place = self._places.setdefault((record.pathname, record.lineno), _Allowance(now_s))
            if not place.take(now_s):
                return False
            left_out, place.left_out = place.left_out, 0
        if left_out:
            record.msg = f"{record.msg} (and {left_out} more like this, which were left out)"
        return True


peer_log: Final = logging.getLogger("weft.peers")
"""For what a peer or a client can cause as often as it likes."""
peer_log.addFilter(RateLimit())

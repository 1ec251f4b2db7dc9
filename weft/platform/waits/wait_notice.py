"""When a wait is told of: nobody waits in silence, and nobody reads the same line all day."""

from __future__ import annotations

import time
from typing import Final

FIRST_S: Final = 10.0
SECOND_S: Final = 60.0
RARELY_S: Final = 600.0


class WaitNotice:
    """Says when a wait, which begins now, is due to be told of: after 10 s, after a minute, then every ten minutes.

    Not safe from several threads: it belongs to the one that waits.
    """

    __slots__ = ("_began_s", "_due_s")

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._due_s = FIRST_S

    @property
    def waited_s(self) -> float:
        """How long the wait has lasted."""
        return time.monotonic() - self._began_s

    @property
    def left_s(self) -> float:
        """How long until the next notice is due."""
        return max(self._due_s - self.waited_s, 0.0)

    def is_due(self) -> bool:
        """Whether a notice is due; then the next one is due later."""
        waited_s = self.waited_s
        if waited_s < self._due_s:
            return False
        while self._due_s <= waited_s:
            self._due_s = SECOND_S if self._due_s < SECOND_S else (self._due_s // RARELY_S + 1) * RARELY_S
        return True

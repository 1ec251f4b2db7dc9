"""FasterWay: which of several ways to do the same is the fastest, found by trying."""

from __future__ import annotations

import math
from typing import Final

TRIES: Final = 8


class FasterWay:
    """Has each way tried some times, in order, and then settles for the one whose best try was the shortest.

    The best of several tries tells what a way costs by itself: other threads and processes only ever add to it. Any thread may
    try; a race loses a try.
    """

    def __init__(self, ways: int, tries: int = TRIES) -> None:
        self._best_s = [math.inf] * ways
        self._left = [tries] * ways
        self._next = 0
        self.is_settled = False

    @property
    def way(self) -> int:
        """The way to try now or, when that is settled, to go."""
        return self._next

    def note(self, way: int, seconds: float) -> None:
        """Note how long a try took."""
        self._best_s[way] = min(self._best_s[way], seconds)
        self._left[way] -= 1
        if self.is_settled or way != self._next or self._left[way] > 0:
            return
        if way + 1 < len(self._best_s):
            self._next = way + 1
        else:
            self._next = self._best_s.index(min(self._best_s))
            self.is_settled = True

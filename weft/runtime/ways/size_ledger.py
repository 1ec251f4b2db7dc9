"""SizeLedger: which sizes of a stage's inputs are worth code of their own."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

_MAX_SIZES: Final = 1024


class SizeLedger:
    """What has been spent on interpreting each size.

    A size is compiled when interpreting it has taken as long as compiling it would: no order of sizes then costs more than
    twice what it would with the order known beforehand (the rule of renting skis until they could have been bought). Of more
    than a thousand sizes the ledger starts anew. Safe from any thread; a race loses a run's time at most.
    """

    def __init__(self) -> None:
        self._spent_s: dict[Hashable, float] = {}

    def add(self, size: Hashable, seconds: float) -> None:
        """Note how long a run of this size took."""
        if size not in self._spent_s and len(self._spent_s) >= _MAX_SIZES:
            self._spent_s.clear()
        self._spent_s[size] = self._spent_s.get(size, 0.0) + seconds

    def is_worth(self, size: Hashable, price_s: float) -> bool:
        """Whether this size has cost as much as its code would."""
        return self._spent_s.get(size, 0.0) >= price_s

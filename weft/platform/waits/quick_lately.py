"""QuickLately: whether something that is done again and again is likely to be quick, by how it went the last times."""

from __future__ import annotations


class QuickLately:
    """Told of each time by `note`. Threads may share one: to count once too often or too rarely does no harm.

    Args:
        tolerance: this many slow times in a row, behind a quick one, say nothing: the thread may have lost its core.
        max_skips: for something that is left alone while it is not likely to be quick, so that nothing is noted then. The
            caller counts `skips` down, and tries again at 0: first after 1, then after 3, and so on up to this number. So
            trying what has become slow for good costs next to nothing, and what has become quick again is found soon. None:
            only a quick time that was noted makes it likely again.
        at_first: whether it is likely before anything was noted.
    """

    __slots__ = ("_in_a_row", "_last_skips", "_max_skips", "_tolerance", "is_likely", "skips")

    def __init__(self, tolerance: int = 0, max_skips: int | None = 64, at_first: bool = True) -> None:
        self._tolerance = tolerance
        self._max_skips = max_skips
        self._in_a_row = 0 if at_first else tolerance
        self._last_skips = 0
        self.is_likely = at_first
        self.skips = 0

    def note(self, was_quick: bool) -> None:
        """Say how it went."""
        self._in_a_row = 0 if was_quick else self._in_a_row + 1
        self.is_likely = self._in_a_row <= self._tolerance
        if self._max_skips is not None:
            self.skips = self._last_skips = 0 if self.is_likely else min(2 * self._last_skips + 1, self._max_skips)

"""Pace: whether something that is done again and again takes long, by how long it took the last times."""

from __future__ import annotations

from typing import Final

LONG_S: Final = 500e-6
"""What takes longer is worth waking another thread for, which costs some 50 µs."""


class Pace:
    """Told of each time. What was never done may take long; after quick times, a single long one says nothing: the thread may
    have lost its core.
    """

    __slots__ = ("_was_long", "is_long")

    def __init__(self) -> None:
        self.is_long = True
        self._was_long = True

    def note(self, seconds: float) -> None:
        """Say how long it took."""
        takes_long = seconds > LONG_S
        self.is_long = takes_long and self._was_long
        self._was_long = takes_long

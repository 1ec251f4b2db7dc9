"""SeedStream: seeds for several random operations out of one."""

from __future__ import annotations

import hashlib


class SeedStream:
    """Seeds that follow from one: each call gives the next.

    Args:
        seed: the seed, or another stream to begin anew with the seed of; None for None each time.
        salt: a string of the place that uses the stream, so that others with the same seed get other numbers.
    """

    def __init__(self, seed: int | SeedStream | None, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._count = 0

    def __repr__(self) -> str:
        return f"SeedStream({self._seed!r}, {self._salt!r})"

    def __call__(self) -> int | None:
        """The next seed."""
        self._count += 1
        if self._seed is None:
            return None
        told = str((self._seed, self._count, self._salt))
        return int(hashlib.sha512(told.encode()).hexdigest(), 16)

    @property
    def original_seed(self) -> int | None:
        """What it was given."""
        return self._seed

    @property
    def salt(self) -> str:
        """The string of its place."""
        return self._salt

"""Numbers that no two callers in a process get."""

from __future__ import annotations

import itertools

_numbers = itertools.count()


def uid() -> int:
    """The next number, from 0."""
    return next(_numbers)

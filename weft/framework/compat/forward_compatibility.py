"""Whether graphs may have what TensorFlow 1.15 began to write on a date."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from typing import Final

# The last is in force, in all threads as in TensorFlow.
_HORIZONS: Final = [datetime.date(2019, 8, 21)]


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether readers of graphs of TensorFlow 1.15 know what was new on a date.

    Args:
        year, month, day: the date.
    """
    return _HORIZONS[-1] > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Take another date until the block ends, in all threads.

    Args:
        year, month, day: the date.
    """
    _HORIZONS.append(datetime.date(year, month, day))
    try:
        yield
    finally:
        _HORIZONS.pop()

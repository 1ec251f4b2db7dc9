"""Whether graphs may have what TensorFlow 1.15 began to write on a date."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Final

_HORIZON: Final[ContextVar[datetime.date]] = ContextVar("horizon", default=datetime.date(2019, 8, 21))


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether readers of graphs of TensorFlow 1.15 know what was new on a date.

    Args:
        year, month, day: the date.
    """
    return _HORIZON.get() > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """Take another date for the block.

    Args:
        year, month, day: the date.
    """
    former = _HORIZON.set(datetime.date(year, month, day))
    try:
        yield
    finally:
        _HORIZON.reset(former)

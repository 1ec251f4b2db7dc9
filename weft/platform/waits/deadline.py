"""The deadline of what this thread does now: one for a whole operation, through every call that waits on its behalf.

    with within(timeout_s):
        ...  # whatever waits in here asks `left_s()`

A session sets it where an operation begins; requests to other tasks take it along, and a server sets it again for the
request's handler. So opening a session, planning, registering, dialing and closing need not hand a timeout down through each
function, and none of them can forget to. A block within another can only shorten the time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from weft.errors import DeadlineExceededError


class _OfThisThread(threading.local):
    at_s: float | None = None  # by the monotonic clock


_of_this_thread = _OfThisThread()


@contextmanager
def within(timeout_s: float | None) -> Iterator[None]:
    """Give what follows so much time, or less where there is a deadline already; None sets none."""
    before_s = _of_this_thread.at_s
    if timeout_s is not None:
        at_s = time.monotonic() + timeout_s
        _of_this_thread.at_s = at_s if before_s is None else min(at_s, before_s)
    try:
        yield
    finally:
        _of_this_thread.at_s = before_s


def left_s(at_most_s: float | None = None) -> float | None:
    """The seconds until the deadline, or `at_most_s` if that is less; None where there is neither. 0 when it has passed."""
    at_s = _of_this_thread.at_s
    if at_s is None:
        return at_most_s
    left = max(at_s - time.monotonic(), 0.0)
    return left if at_most_s is None else min(left, at_most_s)


@contextmanager
def holding(lock: threading.Lock, what: str) -> Iterator[None]:
    """Hold a lock behind which others may wait for tasks.

    Raises:
        DeadlineExceededError: it was not free in time; `what` says for whose work it was waited.
    """
    timeout_s = left_s()
    if not lock.acquire(timeout=-1 if timeout_s is None else timeout_s):
        raise DeadlineExceededError.of(f"Timed out waiting for {what}")
    try:
        yield
    finally:
        lock.release()

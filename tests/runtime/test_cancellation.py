"""A step is cancelled once; whoever wants to know is told once."""

from __future__ import annotations

import pytest

from weft.errors import AbortedError, CancelledError
from weft.runtime.cancellation import Cancellation

FIRST, SECOND = CancelledError(None, None, "first"), AbortedError(None, None, "second")


def test_the_first_reason_wins() -> None:
    cancellation = Cancellation()
    cancellation.raise_if_cancelled()
    assert cancellation.error is None
    assert cancellation.cancel(FIRST)
    assert not cancellation.cancel(SECOND)
    assert cancellation.error is FIRST
    with pytest.raises(CancelledError, match="first"):
        cancellation.raise_if_cancelled()


def test_everyone_who_registered_is_told_once() -> None:
    cancellation, told = Cancellation(), []
    for name in "ab":
        cancellation.on_cancel(lambda name=name: told.append(name))
    cancellation.cancel(FIRST)
    cancellation.cancel(SECOND)
    assert told == ["a", "b"]


def test_a_withdrawn_callback_is_not_called() -> None:
    cancellation, told = Cancellation(), []
    withdraw = cancellation.on_cancel(lambda: told.append("a"))
    withdraw()
    withdraw()
    cancellation.cancel(FIRST)
    assert told == []


def test_who_comes_too_late_is_told_at_once() -> None:
    cancellation, told = Cancellation(), []
    cancellation.cancel(FIRST)
    withdraw = cancellation.on_cancel(lambda: told.append("late"))
    withdraw()
    assert told == ["late"]

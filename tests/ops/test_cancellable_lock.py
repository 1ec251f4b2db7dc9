"""A CancellableLock lets one step in at a time, and a cancelled one leaves the queue without stopping the others."""

from __future__ import annotations

import queue
import threading
from typing import cast

import pytest

from weft.errors import CancelledError
from weft.framework.building.op_context import OpContext
from weft.ops.cancellable_lock import CancellableLock
from weft.runtime.cancellation import Cancellation

_LIMIT_S = 20


class _Step(Cancellation):
    """The part of a step that the lock asks for; tells when it begins to wait."""

    parking = None

    def __init__(self) -> None:
        super().__init__()
        self.waits = threading.Event()

    def on_cancel(self, callback, name=""):  # type: ignore[no-untyped-def]
        withdraw = super().on_cancel(callback, name)
        self.waits.set()
        return withdraw

    @property
    def ctx(self) -> OpContext:
        return cast("OpContext", self)


def _take(lock: CancellableLock, step: _Step, outcomes: queue.Queue[str], name: str) -> threading.Thread:
    def run() -> None:
        try:
            with lock.held(step.ctx):
                outcomes.put(f"{name} held it")
        except CancelledError:
            outcomes.put(f"{name} was cancelled")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert step.waits.wait(_LIMIT_S)
    return thread


def test_a_cancelled_step_leaves_and_the_next_takes_its_turn() -> None:
    lock, outcomes = CancellableLock(), queue.Queue[str]()
    first, second = _Step(), _Step()
    with lock.held(_Step().ctx):
        threads = [_take(lock, first, outcomes, "first"), _take(lock, second, outcomes, "second")]
        first.cancel(CancelledError(None, None, "stopped"))
        assert outcomes.get(timeout=_LIMIT_S) == "first was cancelled"
        assert outcomes.empty()
    assert outcomes.get(timeout=_LIMIT_S) == "second held it"
    for thread in threads:
        thread.join(_LIMIT_S)


def test_an_error_of_its_holder_frees_it() -> None:
    lock = CancellableLock()
    with pytest.raises(ValueError, match="broken"), lock.held(_Step().ctx):
        raise ValueError("broken")
    with lock.held(_Step().ctx):
        pass

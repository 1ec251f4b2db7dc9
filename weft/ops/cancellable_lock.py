"""CancellableLock: steps take turns at a resource, and one that is cancelled stops waiting for its turn."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from weft.framework.op_context import OpContext


class CancellableLock:
    """A lock that kernels hold while they use a resource, for as long as a record or an element takes to come.

    Not reentrant. Safe from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_held = False

    @contextlib.contextmanager
    def held(self, ctx: OpContext) -> Iterator[None]:
        """Hold the lock. Waits for whoever holds it; raises the step's error when the step is cancelled meanwhile."""
        changed = self._changed
        with changed:
            must_wait, self._is_held = self._is_held, True
        if must_wait:
            self._wait(ctx)
        try:
            yield
        finally:
            with changed:
                self._is_held = False
                changed.notify()

    def _wait(self, ctx: OpContext) -> None:
        withdraw = ctx.on_cancel(self._wake)
        try:
            with self._changed:
                while self._is_held:
                    ctx.raise_if_cancelled()
                    self._changed.wait()
                self._is_held = True
        finally:
            withdraw()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

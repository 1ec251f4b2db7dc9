"""CancellableLock: steps take turns at a resource, and one that is cancelled stops waiting for its turn."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from typing import Final

from weft.framework.building.op_context import OpContext
from weft.framework.nodes.built_at import named
from weft.platform.waits.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.waits")


class CancellableLock:
    """A lock that kernels hold while they use a resource, for as long as a record or an element takes to come.

    Not reentrant. Safe from any thread.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._is_held = False

    @contextlib.contextmanager
    def held(self, ctx: OpContext) -> Iterator[None]:
        """Hold the lock. Waits for whoever holds it; raises the step's error when the step is cancelled meanwhile.

        Raises:
            Parked: somebody holds it, and this thread is not to wait.
        """
        changed = self._changed
        with changed:
            must_wait, self._is_held = self._is_held, True
        if must_wait:
            if ctx.parking is not None:
                raise ctx.parking.pass_on()
            self._wait(ctx)
        try:
            yield
        finally:
            with changed:
                self._is_held = False
                changed.notify()

    def _wait(self, ctx: OpContext) -> None:
        notice = WaitNotice()
        withdraw = ctx.on_cancel(self._wake)
        try:
            with self._changed:
                while self._is_held:
                    ctx.raise_if_cancelled()
                    self._changed.wait(notice.left_s)
                    if notice.is_due():
                        _LOG.warning(
                            "%s has waited %.0f s for its turn: another step has the same iterator or reader, and its element "
                            "does not come. Look at what that waits for: a queue of names, a function of the program.",
                            named(ctx.op.type, ctx.op.name, ctx.op.built_from), notice.waited_s,
                        )  # fmt: skip
                self._is_held = True
        finally:
            withdraw()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

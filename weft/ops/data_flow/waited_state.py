"""WaitedState: what steps wait for in turns, and say so when nothing comes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.built_at import named
from weft.platform.waits.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.queues")
ROOM: Final = "Something has to take elements out: run get() in the same step as put(), or in another thread."
ELEMENT: Final = (
    "Something has to put one in: run put() once before the first get(), then both in each step; sessions of other processes "
    "share an area by its shared_name alone."
)


class WaitedState:
    """The base of a staging area's state: its condition, and waits that are woken by cancellation. Safe from any thread.

    Args:
        capacity: how many elements it holds at most; 0 for any number.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._bytes = 0
        self._changed = threading.Condition()

    @property
    def size(self) -> int:
        """The number of elements in it."""
        raise NotImplementedError

    def _wait_until(self, ctx: OpContext, is_possible: Callable[[], bool], act: Callable[[], object], advice: str) -> None:
        notice: WaitNotice | None = None
        withdraw = ctx.on_cancel(self._wake)
        try:
            with self._changed:
                ctx.raise_if_cancelled()
                while not is_possible():
                    notice = notice or WaitNotice()
                    self._changed.wait(notice.left_s)
                    if notice.is_due():
                        self._tell(ctx, notice.waited_s, advice)
                    # Before looking for room: what a step that was given up waited for is another's.
                    ctx.raise_if_cancelled()
                act()
                self._changed.notify_all()
        finally:
            withdraw()

    def _tell(self, ctx: OpContext, waited_s: float, advice: str) -> None:
        most = f" of at most {self._capacity}" if self._capacity else ""
        _LOG.warning(
            "%s has waited %.0f s at a staging area, which has %d element(s)%s, %d bytes. %s",
            named(ctx.op.type, ctx.op.name, ctx.op.built_from), waited_s, self.size, most, self._bytes, advice,
        )  # fmt: skip

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def size_bytes(element: tuple[Array, ...]) -> int:
    """How many bytes some arrays take."""
    return sum(int(part.nbytes) for part in element)

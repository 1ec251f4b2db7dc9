"""StagingBuffer: values on their way from one step to a later one, in order, bounded by their number or their bytes."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from weft.errors import ResourceExhaustedError
from weft.framework.aliases import Array
from weft.framework.built_at import named
from weft.framework.op_context import OpContext
from weft.platform.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.queues")
_ROOM: Final = "Something has to take elements out: run get() in the same step as put(), or in another thread."
_ELEMENT: Final = (
    "Something has to put one in: run put() once before the first get(), then both in each step; sessions of other processes "
    "share an area by its shared_name alone."
)

Element = tuple[Array, ...]


class StagingBuffer:
    """The resource behind a staging area. Safe from any thread; `put`, `get` and `peek` block and are woken by cancellation.

    Args:
        capacity: how many elements it holds at most; 0 for any number.
        memory_limit: how many bytes they take at most; 0 for any number.
    """

    def __init__(self, capacity: int, memory_limit: int) -> None:
        self._capacity = capacity
        self._memory_limit = memory_limit
        self._changed = threading.Condition()
        self._elements: deque[Element] = deque()
        self._bytes = 0

    @property
    def size(self) -> int:
        """The number of elements in it."""
        return len(self._elements)

    def put(self, ctx: OpContext, element: Element) -> None:
        """Add an element, waiting for room; ResourceExhaustedError when it alone is larger than the limit."""
        added = _size_bytes(element)
        if self._memory_limit and added > self._memory_limit:
            raise ResourceExhaustedError.of(
                f"Attempted to insert tensors with combined size of '{added}' bytes into Staging Area with a "
                f"memory limit of '{self._memory_limit}'."
            )
        self._wait_until(ctx, lambda: self._has_room(added), lambda: self._add(element, added), _ROOM)

    def get(self, ctx: OpContext) -> Element:
        """Take the first element, waiting for one."""
        taken: list[Element] = []
        self._wait_until(ctx, lambda: bool(self._elements), lambda: taken.append(self._take()), _ELEMENT)
        return taken[0]

    def peek(self, ctx: OpContext, index: int) -> Element:
        """Look at an element, waiting until there are so many."""
        seen: list[Element] = []
        self._wait_until(ctx, lambda: len(self._elements) > index, lambda: seen.append(self._elements[index]), _ELEMENT)
        return seen[0]

    def clear(self) -> None:
        """Drop all elements."""
        with self._changed:
            self._elements.clear()
            self._bytes = 0
            self._changed.notify_all()

    def _has_room(self, added: int) -> bool:
        has_place = not self._capacity or len(self._elements) < self._capacity
        return has_place and (not self._memory_limit or self._bytes + added <= self._memory_limit)

    def _add(self, element: Element, added: int) -> None:
        self._elements.append(element)
        self._bytes += added

    def _take(self) -> Element:
        element = self._elements.popleft()
        self._bytes -= _size_bytes(element)
        return element

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
            named(ctx.op.type, ctx.op.name, ctx.op.built_from), waited_s, len(self._elements), most, self._bytes, advice,
        )  # fmt: skip

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def _size_bytes(element: Element) -> int:
    return sum(int(part.nbytes) for part in element)

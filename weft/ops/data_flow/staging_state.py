"""StagingBuffer: values on their way from one step to a later one, in order, bounded by their number or their bytes."""

from __future__ import annotations

from collections import deque

from weft.errors import ResourceExhaustedError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.ops.data_flow.waited_state import ELEMENT, ROOM, WaitedState, size_bytes

Element = tuple[Array, ...]


class StagingBuffer(WaitedState):
    """The resource behind a staging area. Safe from any thread; `put`, `get` and `peek` block and are woken by cancellation.

    Args:
        capacity: how many elements it holds at most; 0 for any number.
        memory_limit: how many bytes they take at most; 0 for any number.
    """

    def __init__(self, capacity: int, memory_limit: int) -> None:
        super().__init__(capacity)
        self._memory_limit = memory_limit
        self._elements: deque[Element] = deque()

    @property
    def size(self) -> int:
        """The number of elements in it."""
        return len(self._elements)

    def put(self, ctx: OpContext, element: Element) -> None:
        """Add an element, waiting for room; ResourceExhaustedError when it alone is larger than the limit."""
        added = size_bytes(element)
        if self._memory_limit and added > self._memory_limit:
            raise ResourceExhaustedError.of(
                f"Attempted to insert tensors with combined size of '{added}' bytes into Staging Area with a "
                f"memory limit of '{self._memory_limit}'."
            )
        self._wait_until(ctx, lambda: self._has_room(added), lambda: self._add(element, added), ROOM)

    def get(self, ctx: OpContext) -> Element:
        """Take the first element, waiting for one."""
        taken: list[Element] = []
        self._wait_until(ctx, lambda: bool(self._elements), lambda: taken.append(self._take()), ELEMENT)
        return taken[0]

    def peek(self, ctx: OpContext, index: int) -> Element:
        """Look at an element, waiting until there are so many."""
        seen: list[Element] = []
        self._wait_until(ctx, lambda: len(self._elements) > index, lambda: seen.append(self._elements[index]), ELEMENT)
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
        self._bytes -= size_bytes(element)
        return element

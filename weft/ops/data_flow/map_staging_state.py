"""KeyedBuffer: elements on their way from one step to a later one, found by keys; components may come one by one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from weft.errors import InvalidArgumentError, ResourceExhaustedError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext
from weft.ops.data_flow.waited_state import ELEMENT, ROOM, WaitedState, size_bytes

Parts = dict[int, Array]


class KeyedBuffer(WaitedState):
    """The resource behind a map staging area. Safe from any thread; what waits is woken by cancellation.

    Args:
        is_ordered: whether the least key's element comes first where none is asked for, and not the oldest one.
        capacity: how many elements it holds at most; 0 for any number.
        memory_limit: how many bytes they take at most; 0 for any number.
    """

    def __init__(self, is_ordered: bool, capacity: int, memory_limit: int) -> None:
        super().__init__(capacity)
        self._components = 0
        self._is_ordered = is_ordered
        self._memory_limit = memory_limit
        self._elements: dict[int, Parts] = {}
        self._incomplete: dict[int, Parts] = {}

    @property
    def size(self) -> int:
        """The number of elements that are whole."""
        return len(self._elements)

    @property
    def incomplete_size(self) -> int:
        """The number of elements of which components are to come."""
        return len(self._incomplete)

    def put(self, ctx: OpContext, key: int, indices: Sequence[int], values: Sequence[Array], components: int) -> None:
        """Add components of an element, which has so many; with the last of them it is there. A key keeps its element.

        Raises:
            InvalidArgumentError: the components' indices do not rise, there are not so many, or one is there already.
            ResourceExhaustedError: they alone are larger than the memory limit.
        """
        if any(later <= earlier for earlier, later in itertools.pairwise(indices)):
            raise InvalidArgumentError.of("Indices are not strictly ordered")
        added = size_bytes(tuple(values))
        if self._memory_limit and added > self._memory_limit:
            raise ResourceExhaustedError.of(
                f"Attempted to insert tensors with combined size of '{added}' bytes into Staging Area with a "
                f"memory limit of '{self._memory_limit}'."
            )
        parts = dict(zip(indices, values, strict=True))
        self._components = components
        self._wait_until(ctx, lambda: self._has_room(added, len(parts)), lambda: self._add(key, parts), ROOM)

    def get(self, ctx: OpContext, key: int, indices: Sequence[int]) -> list[Array]:
        """Take components of an element out, waiting until it is whole; with the last of them it goes.

        Raises:
            InvalidArgumentError: there are not so many components, or one has been taken.
        """
        return self._taken(ctx, key, indices, keep=False)[1]

    def peek(self, ctx: OpContext, key: int, indices: Sequence[int]) -> list[Array]:
        """Look at components of an element; otherwise as `get`."""
        return self._taken(ctx, key, indices, keep=True)[1]

    def get_any(self, ctx: OpContext, indices: Sequence[int]) -> tuple[int, list[Array]]:
        """The key and components of the first element, as `get`."""
        return self._taken(ctx, None, indices, keep=False)

    def clear(self) -> None:
        """Drop all elements, whole or not."""
        with self._changed:
            self._elements.clear()
            self._incomplete.clear()
            self._bytes = 0
            self._changed.notify_all()

    def _has_room(self, added: int, parts: int) -> bool:
        # As in TensorFlow, an element that comes in parts has its place whatever the number: its other parts come later.
        has_place = not self._capacity or parts < self._components or len(self._elements) < self._capacity
        return has_place and (not self._memory_limit or self._bytes + added <= self._memory_limit)

    def _add(self, key: int, parts: Parts) -> None:
        if len(parts) < self._components:
            present = self._incomplete.get(key, {})
            for index in parts:
                self._check_index(key, index)
                if index in present:
                    raise InvalidArgumentError.of(
                        f"The tensor for index '{index}' for key '{key}' was already initialized '{self._components}'."
                    )
            self._bytes += size_bytes(tuple(parts.values()))
            self._incomplete[key] = parts = {**present, **parts}
            if len(parts) < self._components:
                return
            del self._incomplete[key]
        elif key not in self._elements:
            self._bytes += size_bytes(tuple(parts.values()))
        self._elements.setdefault(key, parts)

    def _taken(self, ctx: OpContext, key: int | None, indices: Sequence[int], keep: bool) -> tuple[int, list[Array]]:
        found: list[tuple[int, list[Array]]] = []

        def take() -> None:
            at = key if key is not None else min(self._elements) if self._is_ordered else next(iter(self._elements))
            found.append((at, self._parts(at, indices, keep)))

        is_there = (lambda: bool(self._elements)) if key is None else (lambda: key in self._elements)
        self._wait_until(ctx, is_there, take, ELEMENT)
        return found[0]

    def _parts(self, key: int, indices: Sequence[int], keep: bool) -> list[Array]:
        element = self._elements[key]
        for index in indices:
            self._check_index(key, index)
            if index not in element:
                raise InvalidArgumentError.of(f"Tensor at index '{index}' for key '{key}' has already been removed.")
        parts = [element[index] for index in indices]
        if not keep:
            for index in indices:
                element.pop(index, None)
            self._bytes -= size_bytes(tuple(parts))
            if not element:
                del self._elements[key]
        return parts

    def _check_index(self, key: int, index: int) -> None:
        if not 0 <= index < self._components:
            raise InvalidArgumentError.of(f"The index '{index}' for key '{key}' was out of bounds '{self._components}'.")

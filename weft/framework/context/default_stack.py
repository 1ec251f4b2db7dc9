"""The stacks of default graphs and default sessions, one of each per context.

A new thread starts with empty stacks: its default graph is the process-wide one, its default session none.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final


class DefaultStack:
    """A per-context stack of default objects."""

    def __init__(self, what: str) -> None:
        self._items: ContextVar[tuple[Any, ...]] = ContextVar(f"weft_default_{what}", default=())

    def get_default(self) -> Any:
        """The innermost default, or None."""
        items = self._items.get()
        return items[-1] if items else None

    def is_cleared(self) -> bool:
        """Whether no default is set."""
        return not self._items.get()

    def reset(self) -> None:
        """Forget all defaults of this context."""
        self._items.set(())

    def push(self, item: object) -> None:
        """Make `item` the default until it is removed; for sessions that are entered without a block."""
        self._items.set((*self._items.get(), item))

    def remove(self, item: object) -> None:
        """Take `item` out, wherever it is."""
        self._items.set(tuple(other for other in self._items.get() if other is not item))

    @contextmanager
    def use(self, item: object, enforce_nesting: bool = True) -> Iterator[Any]:
        """Make `item` the default for the extent of the block."""
        self.push(item)
        try:
            yield item
        finally:
            if enforce_nesting and self._items.get() and self.get_default() is not item:
                raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
            self.remove_last(item)

    def remove_last(self, item: object) -> None:
        """Take out the innermost entry of `item`."""
        items = list(self._items.get())
        for index in range(len(items) - 1, -1, -1):
            if items[index] is item:
                del items[index]
                break
        self._items.set(tuple(items))


default_graphs: Final = DefaultStack("graph")
default_sessions: Final = DefaultStack("session")

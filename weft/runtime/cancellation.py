"""Cancellation: one step's reason to stop, and who wants to know of it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from weft.errors import OpError


class Cancellation:
    """Set at most once; the first reason wins."""

    __slots__ = ("_callbacks", "_lock", "_next", "error")

    def __init__(self) -> None:
        self.error: OpError | None = None
        self._lock = threading.Lock()
        self._callbacks: dict[int, tuple[Callable[[], None], str]] = {}
        self._next = 0

    def cancel(self, error: OpError) -> bool:
        """Set the reason and call everyone who registered; False when there was a reason already."""
        with self._lock:
            if self.error is not None:
                return False
            self.error = error
            callbacks, self._callbacks = self._callbacks, {}
        for callback, _ in callbacks.values():
            callback()
        return True

    @property
    def waiting(self) -> list[str]:
        """Who is registered: what the step waits for, by name."""
        with self._lock:
            return [name for _, name in self._callbacks.values() if name]

    def on_cancel(self, callback: Callable[[], None], name: str = "") -> Callable[[], None]:
        """Call back once at cancellation, at once when it has happened. Returns a function that withdraws the callback.

        `name` tells who asks.
        """
        with self._lock:
            if self.error is None:
                key = self._next
                self._next += 1
                self._callbacks[key] = callback, name
                return lambda: self._withdraw(key)
        callback()
        return _nothing

    def _withdraw(self, key: int) -> None:
        with self._lock:
            self._callbacks.pop(key, None)

    def raise_if_cancelled(self) -> None:
        """Raise the reason, if there is one."""
        if self.error is not None:
            raise self.error


def _nothing(*_: object) -> None:
    return None

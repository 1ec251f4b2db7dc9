"""Reference: a key that compares by the identity of what it stands for."""

from __future__ import annotations

from typing import Any


class Reference:
    """Stands for one object in sets and dictionaries, whatever the object's own equality is."""

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: object) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """The object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"

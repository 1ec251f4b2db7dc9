"""StubOutForTesting: attributes that a test replaces, and that get their values back after it."""

from __future__ import annotations

import inspect
from types import TracebackType


class StubOutForTesting:
    """Remembers what attributes were, and gives them back; also by `with`.

    A class's static methods are given back as such.
    """

    def __init__(self) -> None:
        self._set: list[tuple[object, str, object]] = []
        self._smart: list[tuple[object, str, object]] = []

    def __repr__(self) -> str:
        names = [name for _, name, _ in (*self._set, *self._smart)]
        return f"<tf.test.StubOutForTesting of {names}>"

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:  # fmt: skip
        self.CleanUp()

    def CleanUp(self) -> None:
        """Give back everything."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: object, attr_name: str, new_attr: object) -> None:
        """Replace an attribute where it stands: of an object itself, or of the class that it has it from.

        Args:
            obj: a module, a class or an object.
            attr_name: the attribute's name.
            new_attr: what it is to be.

        Raises:
            AttributeError: there is none.
        """
        owner, found = self._owner(obj, attr_name)
        self._smart.append((owner, attr_name, found))
        setattr(owner, attr_name, new_attr)

    @staticmethod
    def _owner(obj: object, name: str) -> tuple[object, object]:
        if name in getattr(obj, "__dict__", {}):
            return obj, vars(obj)[name]
        kind = obj if isinstance(obj, type) else type(obj)
        for base in inspect.getmro(kind):
            if name in vars(base):
                return base, vars(base)[name]
        raise AttributeError(f"Attribute not found: {obj!r} has no {name!r} to replace.")

    def SmartUnsetAll(self) -> None:
        """Give back what SmartSet replaced, the last first."""
        while self._smart:
            setattr(*self._smart.pop())

    def Set(self, parent: object, child_name: str, new_child: object) -> None:
        """Replace an attribute of an object.

        Args:
            parent: a module, a class or an object.
            child_name: the attribute's name.
            new_child: what it is to be.

        Raises:
            AttributeError: there is none.
        """
        found = getattr(parent, child_name)
        own = getattr(parent, "__dict__", {}).get(child_name)
        self._set.append((parent, child_name, own if isinstance(own, staticmethod | classmethod) else found))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Give back what Set replaced, the last first."""
        while self._set:
            setattr(*self._set.pop())

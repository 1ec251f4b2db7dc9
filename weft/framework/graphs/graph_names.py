"""The names of a graph: unique ones, legal ones, and the scopes that prefix them."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterator
from typing import Final

from weft.framework.context import scopes
from weft.framework.nodes.operation import Operation

_VALID_OP_NAME: Final = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_./>-]*$")
_SUFFIX: Final = re.compile(r"_\d+$")
_VALID_SCOPE_NAME: Final = re.compile(r"^[A-Za-z0-9_./>-]*$")


def is_valid_name(name: str) -> bool:
    """Whether a node may have this name."""
    return bool(_VALID_OP_NAME.match(name))


def chosen_name(name: str | bytes | None, default: str) -> str:
    """The name that a program gives a node or scope, or the default where it gives none; TypeError for what is no text."""
    if name is None:
        return default
    if isinstance(name, str | bytes):
        return (name if isinstance(name, str) else name.decode()) or default
    raise TypeError(f"The name of a {default!r} operation must be a text, got {name!r} of type {type(name).__name__!r}")


def _allowed(name: str) -> str:
    valid = re.sub(r"[^A-Za-z0-9_.\\/>-]", "_", name).lstrip("_")
    return (
        f": letters, digits and _.-/ are allowed, and it begins with a letter or digit{f', such as {valid!r}' if valid else ''}"
    )


class Names:
    """The names that a graph has given. Two threads never get the same one."""

    operations: dict[str, Operation]

    def __init__(self) -> None:
        super().__init__()
        self._names: dict[str, object] = {}
        self._suffixes: dict[str, int] = {}

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the open name scope, with the first suffix `_1`, `_2` ... that makes it new. Case does not count.

        Args:
            mark_as_used: whether the name is taken with that; otherwise the next call may give it again.
        """
        prefix = scopes.current(self).name
        full = f"{prefix}/{name}" if prefix else name
        token = object()
        if not mark_as_used:
            return next(n for n in self._candidates(full, 0) if n.lower() not in self._names)
        start = self._suffixes.get(full.lower(), 0)
        candidates = self._candidates(full, start)
        # setdefault is atomic: two threads cannot both win a name.
        while self._names.setdefault((candidate := next(candidates)).lower(), token) is not token:
            start += 1
        self._suffixes[full.lower()] = start + 1
        return candidate

    def _candidates(self, full: str, start: int) -> Iterator[str]:
        for index in itertools.count(start):
            yield full if index == 0 else f"{full}_{index}"

    def settle_name(self, name: str) -> str:
        """The full name of a node: unique, or as it is when it ends in '/'; ValueError when it is illegal."""
        settled = name[:-1] if name.endswith("/") else self.unique_name(name)
        if not is_valid_name(settled):
            raise ValueError(f"'{settled}' is not a valid node name{_allowed(settled)}")
        if settled in self.operations:
            raise ValueError(f"Duplicate node name in graph: {settled!r}; give the op another name")
        if name.endswith("/"):
            self._names.setdefault(settled.lower(), settled)
        return settled

    def release_name(self, name: str) -> None:
        """Let a name be given again, whose node was removed."""
        self._names.pop(name.lower(), None)
        for base in (name.lower(), _SUFFIX.sub("", name.lower())):
            self._suffixes.pop(base, None)  # where the search for a free one begins

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of nodes made in the block; None or '' goes to the root, 'x/' re-enters scope x.

        Raises:
            ValueError: the name has characters that no scope may have.
        """
        if name:
            valid = _VALID_SCOPE_NAME if scopes.current(self).name else _VALID_OP_NAME
            if not valid.match(name):
                raise ValueError(f"'{name}' is not a valid scope name{_allowed(name)}")
        if not name:
            new = ""
        elif name.endswith("/"):
            new = name[:-1]
        else:
            new = self.unique_name(name)
        with scopes.entered(self, name=new):
            yield f"{new}/" if new else ""

    def get_name_scope(self) -> str:
        """The open name scope, without a '/' at the end."""
        return scopes.current(self).name

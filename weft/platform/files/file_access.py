"""FileAccess: which files and stores the code that runs for somebody else may touch.

`file_system` is the one way to files and URLs, and asks here. What runs inside of `limited_to` is limited, on that thread and
not on threads that it starts; everything else, such as a program's own savers and writers, is not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from weft import errors

_STORE: Final = re.compile("[a-z]*")
"""A link of a chain that has no `://` is to fsspec the name of a store, such as `simplecache`, if it reads so, else a path."""
_WILDCARDS: Final = frozenset("*?[")


class FileAccess:
    """The directories and URL schemes that are open. Safe from any thread.

    Args:
        holder: whose files they are, for errors: a task.
        roots: the directories below which everything is open; links to elsewhere are not followed.
        schemes: the URL schemes that are open, such as "gs"; paths and `file://` need none.
        remedy: how to open more, for errors.
    """

    def __init__(self, holder: str, roots: Sequence[str], schemes: Sequence[str], remedy: str) -> None:
        self._holder = holder
        self.roots = tuple(os.path.realpath(root) for root in roots)
        self.schemes = frozenset(scheme.lower().removesuffix("://") for scheme in schemes)
        self._remedy = remedy

    def check(self, path: str) -> None:
        """Raise PermissionDeniedError for a path or URL that is not open.

        A URL may be a chain such as `zip://name::gs://bucket/file`: then every link of it counts.
        """
        if "://" not in path or path.startswith("file://"):
            self._check_local(path, path.removeprefix("file://"))
            return
        for link in path.split("::"):
            scheme, separator, rest = link.partition("://")
            if separator and scheme in ("file", "local"):
                self._check_local(path, rest)
            elif separator or _STORE.fullmatch(link):
                self._check_scheme(path, scheme.lower())
            else:
                self._check_local(path, link)

    def check_pattern(self, pattern: str) -> None:
        """Raise PermissionDeniedError for a local pattern whose wildcards would be looked up where nothing is open."""
        parts = pattern.split(os.sep)
        fixed = next((place for place, part in enumerate(parts) if _WILDCARDS.intersection(part)), len(parts))
        start = os.sep.join(parts[:fixed])
        self._check_local(pattern, start or (os.sep if pattern.startswith(os.sep) else os.curdir))

    def allows(self, path: str) -> bool:
        """Whether a local path leads, by all links and `..` in it, to a place that is open."""
        real = os.path.realpath(path)
        return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self.roots)

    def _check_scheme(self, path: str, scheme: str) -> None:
        if scheme not in self.schemes:
            allowed = ", ".join(f"{each}://" for each in sorted(self.schemes)) or "none"
            raise errors.PermissionDeniedError.of(
                f"{path}: graphs that run on {self._holder} may not use URLs of the scheme {scheme}:// (allowed: {allowed}). "
                f"{self._remedy}"
            )

    def _check_local(self, path: str, local: str) -> None:
        if local and not self.allows(local):
            roots = ", ".join(map(repr, self.roots)) or "no directory at all"
            raise errors.PermissionDeniedError.of(
                f"{path}: graphs that run on {self._holder} may touch files below {roots} only, and this is "
                f"{os.path.realpath(local)!r}. {self._remedy}"
            )


_CURRENT: Final[ContextVar[FileAccess | None]] = ContextVar("weft-file-access", default=None)


def current_access() -> FileAccess | None:
    """What this thread is limited to now; None for nothing."""
    return _CURRENT.get()


@contextmanager
def limited_to(access: FileAccess | None) -> Iterator[None]:
    """Limit what the body opens, on this thread; with None it is not limited."""
    token = _CURRENT.set(access)
    try:
        yield
    finally:
        _CURRENT.reset(token)

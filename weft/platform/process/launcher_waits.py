"""For which servers sessions of this process wait, as its launcher is told: one that has ended with the job never answers."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Final, Self

from weft.platform.process.launcher_link import TaskNews, tell_launcher

_LOCK: Final = threading.Lock()
_WAITS: Final[dict[ToldWait, frozenset[str]]] = {}

# A wait that is over by itself so soon, as for a server that may not be there, is nobody's business.
_SOON_S: Final = 60.0


class ToldWait:
    """A wait, told from the first address until the context is left. Belongs to the one that waits.

    Args:
        limit_s: how long it may take; None for ever. A short one is not told.
    """

    def __init__(self, limit_s: float | None = None) -> None:
        self._is_long = limit_s is None or limit_s > _SOON_S

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.tell(())

    def tell(self, addresses: Iterable[str]) -> None:
        """Say what it waits for now; tells nothing where that is as before."""
        now = frozenset(addresses if self._is_long else ())
        with _LOCK:
            if now == _WAITS.get(self, frozenset()):
                return
            if now:
                _WAITS[self] = now
            else:
                del _WAITS[self]
            tell_launcher(TaskNews(waits_for=tuple(sorted(frozenset().union(*_WAITS.values())))))

"""Tells of waits that cannot tell themselves: in a store's library, a compiler, a function of the program, or without a thread.

One thread looks at all that is under way every few seconds, and ends when nothing is.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

from weft.platform.files.file_system import tell_waits_by
from weft.platform.waits import wait_notice
from weft.platform.waits.wait_notice import RARELY_S, WaitNotice

_LOG: Final = logging.getLogger("weft.waits")
_MOST_TOLD: Final = 256


class Watched:
    """A block that is told of when it takes long; what is told of again and again, each time anew, is told of rarely.

    Entering and leaving take about a microsecond. Each use is one object.

    Args:
        describe: what has been doing what, up to `for 10 s`; called in another thread, and only when a notice is due. Empty
            when nobody is kept waiting by it: then it is asked again at the next look.
        advice: what to look at; asked for only when a notice is due where it is a function.
    """

    __slots__ = ("_advice", "_describe", "_notice")

    def __init__(self, describe: Callable[[], str], advice: str | Callable[[], str]) -> None:
        self._describe = describe
        self._advice = advice
        self._notice = WaitNotice()

    def __enter__(self) -> None:
        _WATCH.under_way.add(self)
        if not _WATCH.is_running:
            _WATCH.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _WATCH.under_way.discard(self)

    def look(self, told_until_s: dict[str, float]) -> None:
        """Tell of it, if that is due.

        Args:
            told_until_s: until when what has been told of is not told of again, where it is another wait.
        """
        waited_s = self._notice.waited_s
        is_first = waited_s < wait_notice.SECOND_S
        if self._notice.left_s:
            return
        what, now_s = self._describe(), time.monotonic()
        if not what or not self._notice.is_due():
            return
        if is_first and now_s < told_until_s.get(what, 0.0):
            return
        if len(told_until_s) >= _MOST_TOLD:
            told_until_s.clear()
        told_until_s[what] = now_s + RARELY_S
        advice = self._advice
        _LOG.warning("%s for %.0f s. %s", what, waited_s, advice if isinstance(advice, str) else advice())


class ParkedWait:
    """A wait that no thread waits: from `begin` to `end` it is told of where a thread would, within five seconds.

    Args:
        tell: tells that so many seconds have been waited; called in another thread.
    """

    __slots__ = ("_notice", "_tell")

    def __init__(self, tell: Callable[[float], None]) -> None:
        self._tell = tell
        self._notice = WaitNotice()

    def begin(self) -> None:
        """Begin to be looked at."""
        _WATCH.under_way.add(self)
        if not _WATCH.is_running:
            _WATCH.start()

    def end(self) -> None:
        """Be looked at no more. A second call does nothing."""
        _WATCH.under_way.discard(self)

    def look(self, told_until_s: dict[str, float]) -> None:
        """Tell of it, if that is due; what has been told of is the teller's to know."""
        waited_s = self._notice.waited_s
        if self._notice.is_due():
            self._tell(waited_s)


class _Watch:
    """The thread that looks, and what it looks at."""

    def __init__(self) -> None:
        self.is_running = False
        self.under_way: Final[set[Watched | ParkedWait]] = set()
        self._lock = threading.Lock()
        self._told_until_s: dict[str, float] = {}

    def start(self) -> None:
        """Begin to look, unless the thread does."""
        with self._lock:
            if not self.is_running:
                self.is_running = True
                threading.Thread(target=self._run, name="weft-wait-watch", daemon=True).start()

    def _run(self) -> None:
        while True:
            time.sleep(wait_notice.FIRST_S / 2)
            for each in tuple(self.under_way):
                each.look(self._told_until_s)
            with self._lock:
                # In this order: who begins a wait sees that the thread ends, or the thread sees the wait.
                self.is_running = False
                if not self.under_way:
                    return
                self.is_running = True

    def forget(self) -> None:
        """Know that a forked process has no such thread."""
        self.is_running = False
        self._lock = threading.Lock()
        self.under_way.clear()


_WATCH: Final = _Watch()
os.register_at_fork(after_in_child=_WATCH.forget)
tell_waits_by(Watched)

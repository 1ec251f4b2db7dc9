"""Tells whether threads go on: those that are blocked in one call are what somebody who waits for them wants to hear of.

Linux counts how often a thread has left its processor. A thread that sleeps between two looks at something, or takes steps,
does so again and again; one that waits for a lock that nobody releases does not.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Final

from weft.platform.frames.program_frames import is_under_weft, is_weft, shown_name
from weft.platform.imports.collections import paused_collections
from weft.platform.waits import wait_notice
from weft.platform.waits.wait_notice import WaitNotice

_LOOKS: Final = 5  # before a wait is told of
_SWITCHES: Final = re.compile(r"^(?:non)?voluntary_ctxt_switches:\s*(\d+)", re.M)


def look_every_s() -> float:
    """How long to wait between two looks."""
    return wait_notice.FIRST_S / _LOOKS


class StandingThreads:
    """Notices that threads are blocked since the look before. Not safe from several threads."""

    def __init__(self) -> None:
        self._switches: dict[threading.Thread, int] = {}
        self._notice = WaitNotice()

    @property
    def stood_s(self) -> float:
        """How long they have stood."""
        return self._notice.waited_s

    def look(self, threads: Iterable[threading.Thread]) -> bool:
        """Whether it is due to tell that all of these threads stand; where the system does not count, it never is.

        Args:
            threads: those to look at. One that has ended does not count; without any that lives, nothing goes on either.
        """
        now = {thread: _switches_of(thread) for thread in threads if thread.is_alive()}
        stand = all(count is not None and count == self._switches.get(thread) for thread, count in now.items())
        self._switches = {thread: count for thread, count in now.items() if count is not None}
        if not stand:
            self._notice = WaitNotice()
        return self._notice.is_due()


def _switches_of(thread: threading.Thread) -> int | None:
    """How often a thread has left its processor; None where nobody tells."""
    try:
        status = Path(f"/proc/self/task/{thread.native_id}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    counts = _SWITCHES.findall(status)
    return sum(map(int, counts)) if counts else None


def places_of(threads: Iterable[threading.Thread]) -> list[str]:
    """Where threads stand in the program, by name: `trainer at train.py:12`."""
    frames = _frames()
    return sorted(_told(thread.name, frames.get(thread.ident or 0)) for thread in threads if thread.is_alive())


def threads_of_program() -> list[threading.Thread]:
    """All threads that run code of the program now."""
    frames = _frames()
    return [thread for thread in threading.enumerate() if _program_frame(frames.get(thread.ident or 0)) is not None]


def _frames() -> dict[int, FrameType]:
    """The frames that threads are in, by the threads' idents.

    Python holds a lock meanwhile that its garbage collection takes, and may begin one for what it makes: all threads would
    stand for ever (up to 3.12.1, https://github.com/python/cpython/issues/106883).
    """
    with paused_collections():
        return sys._current_frames()


def _told(name: str, frame: FrameType | None) -> str:
    here = _program_frame(frame)
    return name if here is None else f"{name} at {shown_name(here.f_code.co_filename)}:{here.f_lineno}"


def _program_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the program's code."""
    return next((each for each in _outwards(frame) if not _is_below_program(each)), None)


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_below_program(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return is_weft(file) or is_under_weft(file)

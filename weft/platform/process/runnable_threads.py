"""Threads that would run, and that a busy machine has not let run yet."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Final

_LOOK_S: Final = 0.01


def let_run(most_s: float) -> None:
    """Let this process's other threads of Python run until each of them waits for something, for `most_s` seconds at most.

    One that waits for the interpreter gets it meanwhile. Where the system does not tell how threads are, they run for a moment.
    """
    deadline_s = time.monotonic() + most_s
    time.sleep(_LOOK_S)
    while any(map(_is_runnable, _others())) and time.monotonic() < deadline_s:
        time.sleep(_LOOK_S)


def _others() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread is not threading.current_thread()]


def _is_runnable(thread: threading.Thread) -> bool:
    """Whether a thread is on a processor or waits for one, by Linux's proc(5)."""
    try:
        stat = Path(f"/proc/self/task/{thread.native_id}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["R"]

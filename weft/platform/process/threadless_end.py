"""The end of a process some of whose threads are in C++ for long, such as in a compilation of minutes.

Python cannot end under them: a thread that comes back into an interpreter that is gone aborts the process, and so may
destructors of libraries that it still uses. A fork has none of the threads. It goes through Python's end, with what the
program's objects and files do there, and the process itself goes, threads and all, with the exit status that its child had.
Nothing in Python tells the status before: what `sys.exit(3)` asked for is known to nobody until the interpreter has ended.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import select
import signal
import sys
import warnings
from collections.abc import Iterable
from typing import Final

_LONGEST_S: Final = 20.0


def can_end_without_threads() -> bool:
    """Whether a child can go through the end: on Linux, and unless this process has children to wait for there."""
    return sys.platform == "linux" and not multiprocessing.active_children()


def end_without_threads(kept: Iterable[object]) -> None:
    """Go on in a child that has no other threads, and end this process with its status. To be called at Python's end.

    Returns in the child, and here if the child did not come to its end: the caller then has to wait for its threads.

    Args:
        kept: what the child must not destroy, because that waits for threads.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # JAX, and Python from 3.12 on, warn of forks beside threads: of locks that these hold
        child = os.fork()
    if not child:
        for value in kept:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
        _skip_destructors()
        return
    status = _status_of(child)
    if status is None or (status < 0 and -status != signal.SIGINT):
        return
    if status < 0:
        # What Python does about a KeyboardInterrupt that nobody caught.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


def _skip_destructors() -> None:
    """Have the process be over as soon as Python is: destructors of libraries may wait for threads that a fork lacks."""
    libc = ctypes.CDLL(None)
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)


def _status_of(child: int) -> int | None:
    """The exit status of a child, the negative number of the signal that ended it, or None if it takes too long."""
    descriptor = os.pidfd_open(child)
    try:
        is_over = bool(select.select([descriptor], [], [], _LONGEST_S)[0])
    finally:
        os.close(descriptor)
    if not is_over:
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status if is_over else None

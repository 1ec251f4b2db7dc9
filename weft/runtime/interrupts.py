"""Interrupts: Ctrl-C and its like, put off while an exception at any line would break what other steps rely on.

Python runs signal handlers between two instructions of the main thread. Raised after a dispatch has donated the arrays of
variables and before their slots have the new ones, KeyboardInterrupt would lose the variables' values; in the middle of a
message it would break the connection.
"""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

WAIT_SLICE_S: Final = 0.1
"""How long the main thread may wait at a time. A signal that comes just before a wait begins does not end that wait."""

_INTERRUPT: Final = int(signal.SIGINT)
_TERMINATE: Final = int(signal.SIGTERM)
# The functions behind those of `signal`, which convert enums for 3 µs a call; these take 0.2 µs, and are needed twice a step.
_c_signal: Final[Any] = importlib.import_module("_signal")
_set_handler: Final[Any] = _c_signal.signal
_get_handler: Final[Any] = _c_signal.getsignal
_main: Final[list[int | None]] = [threading.main_thread().ident]
_defers: Final = [False]  # whether the main thread is in a block


def _find_main_thread() -> None:
    _main[0] = threading.main_thread().ident


# The thread that forks is the child's main one.
os.register_at_fork(after_in_child=_find_main_thread)

_Handler = Callable[[int, FrameType | None], Any]


def is_main_thread() -> bool:
    """Whether signals are handled on this thread."""
    return threading.get_ident() == _main[0]


def may_be_interrupted() -> bool:
    """Whether a signal handler of the program may run on this thread now."""
    return threading.get_ident() == _main[0] and not _defers[0]


class deferred_interrupts:
    """A block that no signal handler of the program interrupts; one that is due runs at its end, or that of a block around it.

    Does nothing on other threads than the main one.
    """

    __slots__ = ("_before", "_due", "_is_outermost")

    _before: list[tuple[int, _Handler]]
    _due: list[tuple[int, FrameType | None]]

    def __init__(self) -> None:
        self._is_outermost = False

    def __enter__(self) -> None:
        if threading.get_ident() != _main[0] or _defers[0]:
            return
        self._before, self._due = [], []
        try:
            _defers[0] = True
            for number in (_INTERRUPT, _TERMINATE):
                handler = _get_handler(number)
                # What the system does by default, or ignores, is no Python.
                if handler is not None and type(handler) is not int:
                    self._before.append((number, handler))
                    _set_handler(number, self._note)
        except BaseException:
            self._restore()
            raise
        self._is_outermost = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._due.append((number, frame))

    def _restore(self) -> None:
        _defers[0] = False
        for number, handler in self._before:
            _set_handler(number, handler)

    def __exit__(self, *exc_info: object) -> None:
        if not self._is_outermost:
            return
        self._restore()
        if not self._due:
            return
        handlers = dict(self._before)
        for number, frame in self._due:
            handlers[number](number, frame)

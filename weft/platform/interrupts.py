"""Interrupts: Ctrl-C and its like, put off while an exception at any line would break what other steps rely on.

Python runs signal handlers between two instructions of the main thread. Raised after a dispatch has donated the arrays of
variables and before their slots have the new ones, KeyboardInterrupt would lose the variables' values; in the middle of a
message it would break the connection.
"""

from __future__ import annotations

import gc
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
_defers: Final = [False]  # whether the main thread is in a block that nothing interrupts


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


def _is_collecting(frame: FrameType | None) -> bool:
    """Whether a signal interrupts a callback of the garbage collector, from which no exception gets out.

    JAX has one. From Python 3.12 on the collector runs where signals are looked for too, so they meet more often than before.
    """
    codes = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


class _Relay:
    """Stands in for the program's handlers: calls them, or notes what is due while the main thread must not be interrupted."""

    __slots__ = ("_due", "_handlers")

    def __init__(self) -> None:
        self._handlers: dict[int, _Handler] = {}
        self._due: list[tuple[int, FrameType | None]] = []

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if _defers[0] or _is_collecting(frame):
            self._due.append((number, frame))
        else:
            self._handlers[number](number, frame)

    def install(self) -> None:
        for number in (_INTERRUPT, _TERMINATE):
            handler = _get_handler(number)
            # What the system does by default, or ignores, is no Python.
            if handler is not None and type(handler) is not int:
                self._handlers[number] = handler
                _set_handler(number, self)
        _relay[0] = self

    def remove(self) -> None:
        """Put the program's handlers back, except where it has set other ones meanwhile, and then run those that are due."""
        _defers[0] = True
        try:
            for number, handler in self._handlers.items():
                if _get_handler(number) is self:
                    _set_handler(number, handler)
        finally:
            _relay[0] = None
            _defers[0] = False
        self.run_due()

    def run_due(self) -> None:
        while self._due:
            number, frame = self._due.pop(0)
            self._handlers[number](number, frame)


_relay: Final[list[_Relay | None]] = [None]  # what is installed now


class relayed_interrupts:
    """A block with many `deferred_interrupts` in it, which cost a third there. Defers nothing by itself.

    Does nothing on other threads than the main one.
    """

    __slots__ = ("_own",)

    def __init__(self) -> None:
        self._own: _Relay | None = None

    def __enter__(self) -> None:
        if threading.get_ident() != _main[0] or _relay[0] is not None:
            return
        own = self._own = _Relay()
        try:
            own.install()
        except BaseException:
            own.remove()
            raise

    def __exit__(self, *exc_info: object) -> None:
        if self._own is not None:
            self._own.remove()


class deferred_interrupts:
    """A block that no signal handler of the program interrupts; one that is due runs at its end, or that of a block around it.

    Does nothing on other threads than the main one.
    """

    __slots__ = ("_is_outermost", "_own")

    def __init__(self) -> None:
        self._is_outermost = False
        self._own: _Relay | None = None

    def __enter__(self) -> None:
        if threading.get_ident() != _main[0] or _defers[0]:
            return
        if _relay[0] is None:
            own = self._own = _Relay()
            try:
                _defers[0] = True
                own.install()
            except BaseException:
                own.remove()
                raise
        self._is_outermost = _defers[0] = True

    def __exit__(self, *exc_info: object) -> None:
        if not self._is_outermost:
            return
        relay = self._own
        if relay is not None:
            relay.remove()
            return
        _defers[0] = False
        relay = _relay[0]
        if relay is not None:
            relay.run_due()

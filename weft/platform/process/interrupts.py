"""Interrupts: Ctrl-C and its like, put off while an exception at any line would break what other steps rely on."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import threading
from collections.abc import Callable
from threading import get_ident
from types import FrameType
from typing import Final, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, WeakSet

# Python runs a signal's handler between any two instructions of the main thread, and the usual handler of Ctrl-C raises
# KeyboardInterrupt there. Most code survives that: the exception leaves through its `finally` blocks, and the program ends, or
# a notebook's cell does and the next one goes on with what is there. weft has a few stretches that do not survive it:
#
# - A dispatch has donated the arrays of variables to compiled code, and their slots have not got the new ones yet. An exception
#   between the two leaves slots with arrays that are deleted: the variables' values are lost.
# - Half a message is written, or bytes are taken from a connection and not handled yet. The stream cannot go on after that, and
#   the connection is lost with all sessions that use it.
# - XLA's process-wide set-up is half done.
# - JAX traces and compiles. Its compiler calls Python back, and an exception there is wrapped into a RuntimeError ("Exception
#   raised in callback", JAX 0.12), leaves its caches half filled, or ends the process by a segmentation fault (JAX 0.10).
# - Python itself drops an exception: in callbacks of the garbage collector and of weak references, and in `__del__`.
#
# They are short, or like XLA's compiler seldom look at signals; so the interrupt may come at their end. How?
#
# What does not work:
#
# - `try: ... except KeyboardInterrupt`. The exception is raised at an arbitrary instruction, the interrupted one cannot be
#   taken up again, and there is no way of knowing which of two assignments was made.
# - Locks. Python's `with lock:` may be interrupted between taking the lock and entering the block (bpo-29988), and while it is
#   held it keeps other threads out, not signals.
# - Blocking the signal for the thread (`pthread_sigmask`). The kernel hands a signal that is meant for the process to any
#   thread that does not block it, Python's C handler notes it there, and the Python handler runs on the main thread all the
#   same.
# - Doing the work on another thread, where no handler runs. A hop there and back costs as much as a small step, and the main
#   thread, which waits for it, is interrupted in its wait and would have to cancel work that cannot be cancelled.
# - One handler of our own, installed at import, that looks whether a block is open. Handlers are the program's: it installs its
#   own before or after `import weft`, reads them back (`signal.getsignal`), and other libraries chain to what they find. A
#   handler that is replaced protects nothing, and one that insists breaks programs.
# - A flag in such a block that a handler finds by looking at the frames of the stack, as trio does. It needs the handler to be
#   ours, too, and walks the stack only when a signal comes; we would have to replace the handler before, which is the cost.
#
# What does: in a block, the program's handlers of signals that end programs, have them save, or tell the time are replaced by
# a relay, which notes what comes. At the block's end the handlers are put back, except those that the program has replaced
# meanwhile, and the relay calls them for what it has noted. A handler that is not Python code (the system's default, or none)
# stays: it runs no instruction.
# Such a handler may itself run a step: between two blocks, where this thread holds nothing that the step needs.
# To replace two handlers and put them back costs 3 µs a call through the module `signal`, which converts enums, and 0.2 µs
# through the C functions below it. A step with several such blocks puts one `relayed_interrupts` around them all: the relay is
# installed once, passes signals on between the blocks, and a block is a flag. Measured so, blocks cost a third.
#
# What remains open: a signal between the end of `__enter__` and the first instruction of the block, or behind the last one,
# finds the relay and is noted. One before `__enter__` is raised before anything has happened. A wait in C, such as a poll, goes
# on after a handler that has only noted a signal; so the relay ends it by an exception, which `sleep` alone can meet, where
# nothing is lost. A signal that came just before the poll does not end it: hence waits of the main thread go by slices, too.
# Outside of a relay Python drops what a callback of the garbage collector raises, as it does in any program that imports JAX.

WAIT_SLICE_S: Final = 0.1
"""The longest wait of the main thread at a time. A signal that comes just before a wait begins does not end that wait."""

_T = TypeVar("_T")

_Handler: TypeAlias = Callable[[int, FrameType | None], object]


class _CSignal(Protocol):
    """The functions behind those of `signal`."""

    def signal(self, number: int, handler: _Handler, /) -> object: ...

    def getsignal(self, number: int, /) -> _Handler | int | None: ...


_SIGNALS: Final = tuple(
    int(getattr(signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM")
    if hasattr(signal, name)  # Windows has two
)
_c_signal: Final[_CSignal] = importlib.import_module("_signal")
_set_handler: Final = _c_signal.signal
_get_handler: Final = _c_signal.getsignal


class MainThread:
    """The thread that signals are handled on, and what it is in the middle of. There is one, `main_thread`."""

    __slots__ = ("defers", "ident", "relay")

    def __init__(self) -> None:
        self.ident = threading.main_thread().ident
        self.defers = False
        """Whether it is in a block that nothing interrupts."""
        self.relay: _Relay | None = None
        """The relay that stands in for the program's handlers now."""

    def find(self) -> None:
        """In a forked child: the thread that forks is the child's main one."""
        self.ident = threading.main_thread().ident


main_thread: Final = MainThread()
os.register_at_fork(after_in_child=main_thread.find)


def is_main_thread() -> bool:
    """Whether signals are handled on this thread."""
    return get_ident() == main_thread.ident


# Callbacks of weak references: all of these modules, whose functions are short.
_WEAK_FILES: Final = {WeakKeyDictionary.update.__code__.co_filename, WeakSet.add.__code__.co_filename}


def _must_wait(frame: FrameType | None) -> bool:
    """Whether a signal interrupts a call from which Python lets no exception out.

    JAX has a callback of the garbage collector. A signal that comes during a collection is handled in the first Python code
    after it, which is that callback or a weak reference's.
    """
    codes = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None:
        code = frame.f_code
        if code in codes or code.co_name == "__del__" or code.co_filename in _WEAK_FILES:
            return True
        frame = frame.f_back
    return False


class SleepEndedError(Exception):
    """A signal waits for the end of the block in which the main thread sleeps."""


def sleep(poll: Callable[[int | None], _T], milliseconds: int | None) -> _T:
    """Return what a poll finds in so many milliseconds.

    A poll that takes nothing away, and this alone: a signal may end it anywhere in here.

    Raises:
        SleepEndedError: in a block that defers interrupts, one is due at its end.
    """
    return poll(milliseconds)


class _Relay:
    """Stands in for the program's handlers: calls them, or notes what is due while the main thread must not be interrupted."""

    __slots__ = ("_due", "_handlers")

    def __init__(self) -> None:
        self._handlers: dict[int, _Handler] = {}
        self._due: list[tuple[int, FrameType | None]] = []

    def install(self) -> None:
        """Take the place of the program's handlers. The caller removes the relay if that is interrupted."""
        main_thread.relay = self
        for number in _SIGNALS:
            handler = _get_handler(number)
            # What the system does by default, or ignores, is no Python.
            if handler is not None and not isinstance(handler, int):
                self._handlers[number] = handler
                _set_handler(number, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if main_thread.defers or _must_wait(frame):
            self._due.append((number, frame))
            if frame is not None and frame.f_code is sleep.__code__:
                raise SleepEndedError
        else:
            self._handlers[number](number, frame)

    def remove(self) -> None:
        """Put the program's handlers back, except where it has set other ones meanwhile, and then run those that are due."""
        main_thread.defers = True
        try:
            for number, handler in self._handlers.items():
                if _get_handler(number) is self:
                    _set_handler(number, handler)
        finally:
            main_thread.relay = None
            main_thread.defers = False
        if self._due:
            self.run_due()

    def run_due(self) -> None:
        """Call the handlers of what was noted, in order. One that raises leaves the rest to the next time."""
        while self._due:
            number, frame = self._due.pop(0)
            self._handlers[number](number, frame)


class relayed_interrupts:
    """A block with many `deferred_interrupts` in it, which cost a third there. Defers nothing by itself.

    Does nothing on other threads than the main one.
    """

    __slots__ = ("_own",)

    _own: _Relay | None

    def __enter__(self) -> None:
        self._own = None
        if get_ident() != main_thread.ident or main_thread.relay is not None:
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

    _is_outermost: bool
    _own: _Relay | None

    def __enter__(self) -> None:
        self._is_outermost = False
        if get_ident() != main_thread.ident or main_thread.defers:
            return
        self._own = None
        if main_thread.relay is None:
            own = self._own = _Relay()
            try:
                main_thread.defers = True  # from the first handler on that is replaced
                own.install()
            except BaseException:
                own.remove()
                raise
        self._is_outermost = main_thread.defers = True

    def __exit__(self, *exc_info: object) -> None:
        if not self._is_outermost:
            return
        if self._own is not None:
            self._own.remove()
            return
        main_thread.defers = False
        if main_thread.relay is not None:
            main_thread.relay.run_due()

"""Calls of XLA from threads that nobody waits for, such as the first run of a step that was given up while it compiled.

Python's end waits for them: a thread that comes back from C++ into an interpreter that is gone aborts the process. So does what
such calls have left running: a training step that fetches nothing returns before XLA has computed it, and oneDNN, whose kernels
are gone then, took the process down: three of four that ended behind a step of ResNet-20. What takes longer, such as the code
of an unrolled LSTM of five layers, which XLA compiles for minutes, is left behind.

A thread that lets go of JAX's arrays is in C++ for that moment too: one whose step has just been told to be over, say. So the
main thread holds them to its own end, and no thread makes others from then on.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Final

from weft.framework.building.aliases import Array
from weft.platform.process.last_at_exit import at_last
from weft.platform.process.runnable_threads import let_run
from weft.platform.process.threadless_end import can_end_without_threads, end_without_threads
from weft.runtime.xla import xla_process

_PATIENCE_S: Final = 1.0
"""How long the end waits for what is under way before it leaves it behind."""
_LONGEST_S: Final = 120.0
"""How long it waits where nothing can be left behind."""
_LOOK_S: Final = 0.01
_KEPT_BYTES: Final = 64 << 10  # so large a value may be kept beyond its variable, to know when an execution has ended
_MOST_RUNNING: Final = 64  # more executions than one process has under way


class _Own(threading.local):
    """How many blocks a thread is in."""

    blocks = 0


class CallsAtExit:
    """A block that calls XLA, perhaps within another. Any number of threads may be in one; there is `calls_at_exit` alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._own = _Own()
        self._is_closed = False
        self._held: list[object] = []
        self._running: deque[Array] = deque(maxlen=_MOST_RUNNING)

    def note_running(self, value: Array, is_small: bool) -> None:
        """Take note of what an execution makes that may still be under way; a small value is kept for a while."""
        self._running.append(value if is_small else weakref.ref(value))

    def __enter__(self) -> None:
        own = self._own
        if not own.blocks:
            with self._lock:
                is_free = not self._is_closed or threading.current_thread() is threading.main_thread()
                self._count += is_free
            if not is_free:
                _stay()
        own.blocks += 1

    def __exit__(self, *_: object) -> None:
        own = self._own
        if own.blocks:  # unless a child was forked in the block
            own.blocks -= 1
            if not own.blocks:
                with self._lock:
                    self._count -= 1

    def end(self) -> None:
        """Let Python end: when all is over, or soon, without the threads that are still in a block. None begins another."""
        with self._lock:
            self._is_closed = True
        if not self.wait(_PATIENCE_S) and can_end_without_threads():
            end_without_threads(xla_process.owners_of_threads())
        self.wait(_LONGEST_S)
        self._running.clear()
        self._held += xla_process.live_arrays()
        if self._held:
            # One that was being destroyed meanwhile is not held: its thread waits for the interpreter, and gets it now, or as
            # soon as a busy machine lets it run.
            let_run(_PATIENCE_S / 4)

    def wait(self, timeout_s: float = _LONGEST_S) -> bool:
        """Block until nobody is in a block and nothing is being computed; returns whether that came in time."""
        deadline_s = time.monotonic() + timeout_s
        while self._count or not all(map(_is_over, tuple(self._running))):
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(_LOOK_S)
        return True

    def forget(self) -> None:
        """In a forked child, which has none of the threads."""
        self._lock = threading.Lock()
        self._count = 0
        self._own = _Own()
        self._running.clear()


def _stay() -> None:
    """Keep this thread, which is not the main one, where the interpreter may go without it."""
    lock = threading.Lock()
    while True:
        lock.acquire()


def _is_over(value: Array) -> bool:
    """Whether what makes a value is over; an array that a later execution has been given is that one's matter."""
    if isinstance(value, weakref.ref):
        value = value()
    return value is None or bool(value.is_deleted() or value.is_ready())


calls_at_exit: Final = CallsAtExit()
at_last(calls_at_exit.end)
os.register_at_fork(after_in_child=calls_at_exit.forget)


class LeftRunning:
    """Tells `calls_at_exit` of the executions of one stage that may be under way when their step returns."""

    __slots__ = ("_is_small", "_place")

    def __init__(self) -> None:
        self._place = -1  # of the value that takes the least memory
        self._is_small = False

    def note(self, values: Sequence[Array]) -> None:
        """Take note of an execution that makes these values of variables, always of the same ones; all are ready at once."""
        if not values:
            return
        if self._place < 0:
            sizes = [value.nbytes for value in values]
            self._is_small = min(sizes) <= _KEPT_BYTES
            self._place = sizes.index(min(sizes))
        calls_at_exit.note_running(values[self._place], self._is_small)

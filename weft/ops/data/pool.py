"""The threads that parallel maps of all datasets share, the tasks that run there, and which calls are worth one."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from weft.errors import OpError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import Caller
from weft.ops.data.element import Called, Element
from weft.platform.machine.interpreter_turns import LEAST, pieces_in_a_turn

# Enough for functions that wait for files or sleep; those that compute are bound by processors anyway.
_MOST: Final = 64
_IDLE_S: Final = 5.0
# CPU time of a call from which on another thread is worth its price; and one of how many calls is timed, since to look at a
# thread's clock takes more than a microsecond.
_QUICK_S: Final = 1e-3
_CALLS_TIMED: Final = 16


class Task:
    """A call that some thread of the pool makes, or the one that wants its result, whichever comes first."""

    __slots__ = ("_done", "_error", "_function", "_lock", "_result")

    def __init__(self, function: Callable[[], list[object] | None]) -> None:
        self._function: Callable[[], list[object] | None] | None = function
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._result: list[object] | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        """Make the call, unless another thread does."""
        with self._lock:
            function, self._function = self._function, None
        if function is None:
            return
        try:
            self._result = function()
        except Exception as error:
            self._error = error
        self._done.set()

    def result(self, caller: Caller) -> list[object] | None:
        """What the call returned; makes it here when no thread has begun it, so that a full pool cannot block this one.

        Raises:
            Exception: the call raised it, or the caller has ended.
        """
        self.run()
        if not self._done.is_set():
            withdraw = caller.on_cancel(self._done.set)
            try:
                self._done.wait()
            finally:
                withdraw()
            caller.raise_if_cancelled()
        if self._error is not None:
            raise self._error
        return self._result


class Pace:
    """A function's calls: how many at a time, and whether another thread is of help. Safe from any thread.

    `is_quick` says that none is, so short are they; `most` is how many of them at once take no longer than Python lets a thread
    compute before another one gets the interpreter. `only_computes` is the function's.
    """

    __slots__ = ("_function", "is_quick", "most", "only_computes")

    def __init__(self, function: Called) -> None:
        self._function = function
        self.only_computes = function.only_computes
        self.is_quick = not function.may_wait
        self.most = LEAST if function.is_pure else 1

    def call(self, element: Element, caller: Caller, number: int) -> list[Array]:
        """Call it for one element; the time of some calls is taken."""
        if number % _CALLS_TIMED or self._function.may_wait:
            return self._function(element, caller, number)
        begin = time.thread_time()
        made = self._function(element, caller, number)
        self._note(time.thread_time() - begin)
        return made

    def each(self, elements: Sequence[Element], caller: Caller, number: int) -> list[Element | OpError]:
        """Call it for elements of consecutive numbers, side by side."""
        begin = time.thread_time()
        made = self._function.each(elements, caller, number)
        if made:
            self._note((time.thread_time() - begin) / len(made))
        return made

    def _note(self, call_s: float) -> None:
        self.is_quick = call_s < _QUICK_S
        if self._function.is_pure:
            self.most = pieces_in_a_turn(call_s)


class PacedCall:
    """A function's call for one element, on a thread of the pool."""

    __slots__ = ("_caller", "_element", "_number", "_pace")

    def __init__(self, pace: Pace, element: Element, caller: Caller, number: int) -> None:
        self._pace = pace
        self._element = element
        self._caller = caller
        self._number = number

    def __call__(self) -> list[object]:
        return list(self._pace.call(self._element, self._caller, self._number))


class Pool:
    """Daemon threads, at most so many, that go when there is nothing to do. Safe from any thread."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._tasks: deque[Task] = deque()
        self._threads = 0
        self._idle = 0

    def submit(self, task: Task) -> None:
        """Have a thread run the task."""
        with self._changed:
            self._tasks.append(task)
            if self._idle >= len(self._tasks):
                self._changed.notify()
                return
            if self._threads >= self._most:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="weft-data", daemon=True).start()

    def _work(self) -> None:
        while (task := self._next()) is not None:
            task.run()
            del task

    def _next(self) -> Task | None:
        with self._changed:
            while not self._tasks:
                self._idle += 1
                is_woken = self._changed.wait(_IDLE_S)
                self._idle -= 1
                if not is_woken and not self._tasks:
                    self._threads -= 1
                    return None
            return self._tasks.popleft()


POOL: Final = Pool()

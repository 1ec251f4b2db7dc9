"""Turns: how a thread that works in Python leaves the interpreter to the steps that run beside it.

JAX traces and lowers in Python, 50 to 150 ms for a training step of 140 nodes. A step that runs on NumPy meanwhile gives the
interpreter away at each larger operation, and gets it back when Python makes the other thread let go, after 5 ms: steps of
0.7 ms took 42 ms. In turns they took 1.3 ms in the median and 3 ms at most, and tracing twice its CPU time (784-100-10 with
Adam, two cores, November 2026). The compiler itself, which takes ten times as long, does not hold the interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from queue import Empty, SimpleQueue
from threading import get_ident
from time import perf_counter
from types import FrameType
from typing import Final

from weft.platform.imports import jax_modules

_LONGEST_TURN_S: Final = 0.005
_LEAST_TURN_S: Final = 1e-4
_LONGEST_WAIT_S: Final = 0.02
"""What is done in turns may hold a lock of JAX's, for which a step may wait."""
_PAUSE_S: Final = 5e-4
"""Between two steps: their thread may be about to begin one, or feed it."""


class Turns:
    """The turns of one working thread. Steps are told of by any thread.

    A turn is half as long as the shortest step, but not shorter than the wait for it. JAX's import and a trace, in turns of
    half a step, were not done after 12 s in a job whose stages take 0.01 to 0.5 ms, and were after 6 so (two loaded cores,
    November 2026).

    Ctrl-C may come anywhere in a step, so there is no lock: a thread whose note of its step was left is noted anew by its next.
    """

    def __init__(self) -> None:
        self._begun_s: dict[int, float] = {}
        self._shortest_s = inf
        self._ended: SimpleQueue[None] = SimpleQueue()
        self._is_waiting = False
        self._until_s = 0.0

    @contextmanager
    def step(self) -> Iterator[None]:
        """A block that computes for a step."""
        ident = get_ident()
        self._begun_s[ident] = begin_s = perf_counter()
        try:
            yield
        finally:
            self._begun_s.pop(ident, None)
            self._shortest_s = min(self._shortest_s, perf_counter() - begin_s)
            if self._is_waiting:
                self._is_waiting = False
                self._ended.put(None)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A block of Python that is done in turns, on the calling thread. One at a time.

        What already traces the thread, such as a debugger, goes on instead: there is one such function for each thread.
        """
        if sys.gettrace() is not None:
            yield
            return
        self._until_s, self._shortest_s = 0.0, inf
        sys.settrace(self._on_call)
        try:
            yield
        finally:
            sys.settrace(None)

    def _on_call(self, frame: FrameType, event: str, argument: object) -> None:
        """Called by Python before each function; its answer leaves the function's lines alone."""
        # Who waits for JAX's import, which this thread does, ends no step that it could wait for.
        if perf_counter() < self._until_s or jax_modules.is_awaited():
            return
        self._is_waiting = True
        waiting_since_s = perf_counter()
        with suppress(Empty):
            self._ended.get(timeout=_LONGEST_WAIT_S if self._begun_s else _PAUSE_S)
        now_s = perf_counter()
        turn_s = max(self._shortest_s / 2, now_s - waiting_since_s)
        self._until_s = now_s + max(min(turn_s, _LONGEST_TURN_S), _LEAST_TURN_S)


turns: Final = Turns()

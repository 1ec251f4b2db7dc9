"""Parking: what waits for a queue's element, or for gradients, without a thread, and who runs it when that is there.

A kernel that would have to wait keeps its request here and leaves by `Parked`; its stage has done nothing else by then. Whoever
serves the request, which is another stage's kernel, says so, and the stage runs anew: the kernel finds its request, and what it
asked for. So an element that lies ready costs no thread, and one that is awaited wakes none.

A connection's thread, on which no step waits, runs what its own stage has served, behind that stage: on a parameter server the
replicas' gradients, the update and their tokens follow from each other without a wake-up. That is a *turn*, in which what
becomes ready is run one after the other, so that steps which wake each other in a ring do not nest. From any other thread the
stage goes to the pool: one that puts elements would else do the work of who takes them, and Ctrl-C on the main one end it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar

from weft.framework.building.op_context import Parked
from weft.platform.process.interrupts import is_main_thread
from weft.runtime.inter_op_pool import InterOpPool

T = TypeVar("T")


class _Turn(threading.local):
    """The stages that have become ready in this thread's turn; None outside of one."""

    ready: deque[Callable[[], None]] | None = None


_TURN: Final = _Turn()


def in_turn(run: Callable[[], T]) -> T:
    """Run a stage, which does not wait on this thread, and behind it the stages of any step that it has made ready."""
    if _TURN.ready is not None or is_main_thread():
        return run()
    ready = _TURN.ready = deque()
    try:
        return run()
    finally:
        try:
            while ready:
                ready.popleft()()
        finally:
            _TURN.ready = None


class Parking:
    """The place of one stage of a step. See `weft.framework.building.op_context.Parking`.

    Args:
        run: runs the stage anew, with this parking, or on a thread that may wait for it, without one.
        pool: the threads that may wait, where it also runs outside of a turn.
    """

    __slots__ = ("_is_taken", "_pool", "_run", "request", "resource")

    def __init__(self, run: Callable[[Parking | None], None], pool: InterOpPool) -> None:
        self._run = run
        self._pool = pool
        self._is_taken = False
        self.request: object = None
        self.resource: object = None
        """What the node's handle names, also when it has been dropped meanwhile."""

    def keep(self, request: object) -> Parked:
        """Keep what the kernel asks for; returns what it is to raise. Under the lock with which `resume` is called."""
        self.request = request
        self._is_taken = True
        return Parked()

    def pass_on(self) -> Parked:
        """Have the stage run anew on a thread that may wait; returns what the kernel is to raise."""
        self._pool.submit(lambda: self._run(None))
        return Parked()

    def resume(self) -> None:
        """Have the stage run anew, once, when the caller's own stage is done."""
        if not self._is_taken:
            return
        self._is_taken = False
        ready = _TURN.ready
        if ready is None:
            self._pool.submit(lambda: in_turn(self._go_on))
        else:
            ready.append(self._go_on)

    def _go_on(self) -> None:
        self._run(self)

"""Mutexes: what steps hold one after the other, from MutexLock on until ConsumeMutexLock, or the end of the step."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.built_at import named
from weft.ops.declaration import no_outputs, not_differentiable, op, scalar_shape
from weft.ops.held_objects import Held, handle_of, held
from weft.platform.waits.wait_notice import WaitNotice

_LOG: Final = logging.getLogger("weft.waits")


class Mutex:
    """A lock that one node at a time holds. Safe from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._holder: MutexLock | None = None

    def lock(self, ctx: OpContext) -> MutexLock:
        """Wait until nobody holds it; the step holds it then, and no longer than it goes on.

        Raises:
            OpError: the step ended while it waited.
        """
        lock = MutexLock(self)
        # Not under the condition: a step that has ended calls at once.
        lock.withdraw = ctx.on_cancel(lock.end)
        notice = WaitNotice()
        try:
            with self._changed:
                while self._holder is not None and not lock.is_ended:
                    self._changed.wait(notice.left_s)
                    if notice.is_due():
                        _LOG.warning(
                            "%s has waited %.0f s: another execution of the critical section does not come to its end. Look at "
                            "what its function waits for.",
                            named(ctx.op.type, ctx.op.name, ctx.op.built_from), notice.waited_s,
                        )  # fmt: skip
                if not lock.is_ended:
                    self._holder = lock
            ctx.raise_if_cancelled()
        except BaseException:
            lock.release()
            raise
        return lock

    def give_up(self, lock: MutexLock) -> None:
        """Let others have it, if this lock holds it; wakes who waits."""
        with self._changed:
            lock.is_ended = True
            if self._holder is lock:
                self._holder = None
            self._changed.notify_all()


class MutexLock(Held):
    """That a step holds a mutex, or waits for it.

    Args:
        mutex: which.

    Attributes:
        withdraw: takes back that the end of the step ends this.
        is_ended: whether it was given up.
    """

    __slots__ = ("__weakref__", "is_ended", "mutex", "withdraw")

    def __init__(self, mutex: Mutex) -> None:
        self.mutex = mutex
        self.withdraw: Callable[[], None] | None = None
        self.is_ended = False

    def end(self) -> None:
        """Give it up: the step has failed, was cancelled, or has forgotten it."""
        self.mutex.give_up(self)

    def release(self) -> None:
        """Give it up, and no longer ask for the end of the step."""
        withdraw, self.withdraw = self.withdraw, None
        if withdraw is not None:
            withdraw()
        self.end()


@op("MutexV2", "-> resource: resource", infer=scalar_shape, gradient=not_differentiable, stateful=True)
def mutex_v2(ctx: OpContext, *, container: str = "", shared_name: str = "") -> Result:
    """The handle of a mutex, which is made if it is not there: `-> scalar resource`."""
    ctx.find_or_create(Mutex, Mutex)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(Mutex)
    return handle


@op("MutexLock", "mutex: resource -> mutex_lock: variant", infer=scalar_shape, gradient=not_differentiable, stateful=True)
def mutex_lock(ctx: OpContext, mutex: Array) -> Result:
    """Hold the mutex from here on; waits while another holds it: `scalar resource -> scalar variant`."""
    return handle_of(ctx.find(Mutex, mutex).lock(ctx))


@op("ConsumeMutexLock", "mutex_lock: variant ->", infer=no_outputs, gradient=not_differentiable, stateful=True)
def consume_mutex_lock(ctx: OpContext, mutex_lock: Array) -> tuple[()]:
    """Let others have the mutex: `scalar variant ->`."""
    held(mutex_lock, MutexLock).release()
    return ()

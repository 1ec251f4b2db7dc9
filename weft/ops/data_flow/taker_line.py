"""TakerLine: those who wait for an accumulator's gradients, one after the other, each on a thread or parked."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from weft.errors import CancelledError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext, Parked, Parking
from weft.platform.waits.wait_notice import WaitNotice
from weft.platform.waits.wait_watch import ParkedWait


def _nothing() -> None:
    return None


@dataclass(eq=False)
class Taker:
    """One that waits for so many gradients, since a time of the clock that only grows.

    `is_enough` is asked with the line's lock held, `tell` tells of a wait of so many seconds, `leave` ends what parking began.
    """

    num_required: int
    began_s: float
    is_enough: Callable[[], bool]
    tell: Callable[[float], None]
    is_cancelled: bool = False
    parking: Parking | None = None
    leave: Callable[[], None] = _nothing


class TakerLine:
    """The takers in the order in which they came: only the first may take. Safe from any thread."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        """The lock of the line and of what is waited for."""
        self._takers: deque[Taker] = deque()
        self._is_gone = False

    @property
    def first(self) -> Taker | None:
        """The one whose turn is next. Under the lock."""
        return self._takers[0] if self._takers else None

    def take(self, ctx: OpContext, taker: Taker, taken: Callable[[], Array]) -> Array:
        """Stand in the line and return what `taken` gives, with the lock held, when there is enough.

        Args:
            ctx: the step.
            taker: what it needs.
            taken: takes what there is.

        Raises:
            CancelledError: the step was cancelled, or what is waited for is gone.
            Parked: there is not enough yet, and no thread waits.
        """
        if ctx.parking is not None:
            return self._take_parked(ctx, ctx.parking, taker, taken)
        notice: WaitNotice | None = None
        with self.changed:
            self._takers.append(taker)
        withdraw = ctx.on_cancel(lambda: self._give_up(taker))
        try:
            with self.changed:
                try:
                    while not self._is_turn_of(taker, ctx):
                        notice = notice or WaitNotice()
                        self.changed.wait(notice.left_s)
                        if notice.is_due():
                            taker.tell(notice.waited_s)
                    return taken()
                finally:
                    self._step_out(taker)
        finally:
            withdraw()

    def wake(self) -> None:
        """Have the first look again, if it is its turn. Under the lock."""
        first = self.first
        if first is None or not first.is_enough():
            return
        self.changed.notify_all()
        if first.parking is not None:
            first.parking.resume()

    def close(self) -> None:
        """Wake all: what they wait for is being dropped."""
        with self.changed:
            self._is_gone = True
            self.changed.notify_all()
            for each in self._takers:
                if each.parking is not None:
                    each.parking.resume()

    def _take_parked(self, ctx: OpContext, parking: Parking, new: Taker, taken: Callable[[], Array]) -> Array:
        with self.changed:
            taker: Taker = parking.request or new
            if taker is new:
                self._takers.append(taker)
            try:
                if not self._is_turn_of(taker, ctx):
                    raise self._park(ctx, taker, parking)
                result = taken()
            except Parked:
                raise
            except BaseException:
                self._step_out(taker)
                raise
            self._step_out(taker)
            return result

    def _park(self, ctx: OpContext, taker: Taker, parking: Parking) -> Parked:
        """Have a taker's node run anew when it is its turn. Under the lock."""
        parked = parking.keep(taker)
        if taker.parking is not None:
            return parked
        taker.parking = parking
        wait = ParkedWait(taker.tell)
        wait.begin()

        def cancel() -> None:
            wait.end()
            self._give_up(taker)

        withdraw = ctx.on_cancel(cancel)

        def leave() -> None:
            wait.end()
            withdraw()

        taker.leave = leave
        return parked

    def _is_turn_of(self, taker: Taker, ctx: OpContext) -> bool:
        """Whether a taker takes now; CancelledError, or the step's error, when it never will."""
        if taker.is_cancelled:
            ctx.raise_if_cancelled()
        if taker.is_cancelled or self._is_gone:
            raise CancelledError.of("TakeGrad operation was cancelled")
        return self.first is taker and taker.is_enough()

    def _give_up(self, taker: Taker) -> None:
        with self.changed:
            taker.is_cancelled = True
            self._step_out(taker)
            self.changed.notify_all()

    def _step_out(self, taker: Taker) -> None:
        """Let the next of the line have its turn."""
        taker.leave()
        taker.parking, taker.leave = None, _nothing
        with contextlib.suppress(ValueError):
            self._takers.remove(taker)
        self.wake()

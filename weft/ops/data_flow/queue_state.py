"""QueueState: the elements of one queue and the requests that wait for room or for elements.

Two lines of requests, one to put and one to take, each served strictly in order of arrival: only the first of a line may make
progress. So elements come out in the order in which they went in, however many threads there are, and a large request is not
starved by small ones. `close` stands in the line of those who put: what waited before it is still put.

Whoever changes the queue serves the lines, as far as that goes, and wakes who asked only when the request is done: who waits
for 128 elements sleeps until it has them all, or has its node run anew then, where no thread waits for it. Where each element
woke it, a pipeline of queues took 1.6 turns of the processor for each record, and four times the time.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from weft.errors import CancelledError, OutOfRangeError
from weft.framework.building.aliases import Array
from weft.framework.building.op_context import OpContext, Parked, Parking
from weft.framework.nodes.built_at import named
from weft.framework.nodes.operation import Operation
from weft.platform.waits.wait_notice import FIRST_S, RARELY_S, SECOND_S, WaitNotice
from weft.platform.waits.wait_watch import ParkedWait

Element = tuple[Array, ...]

_LOG: Final = logging.getLogger("weft.queues")
_NONE_YET: Final = (
    "Nobody has put any yet. The threads of an input pipeline begin with tf.train.start_queue_runners(sess=session); "
    "in a cluster, look whether the tasks run that are to put them."
)
# The queue of SyncReplicasOptimizer, which replicas wait at for an update.
_TOKENS: Final = "'sync_token_q'"
_OF_TOKENS: Final = (
    "The chief puts a token for each replica once as many gradients are there as an update needs: look whether the chief runs, "
    "with optimizer.make_session_run_hook(is_chief=True) among its hooks, and whether as many replicas run as it waits for."
)
# The threads of a QueueRunner wait for room most of the time.
_FILLER: Final = "QueueRunnerThread-"
_NONE_TAKEN: Final = (
    "Nothing has been taken out so far: a step that takes elements has to run, in another thread or task, or the capacity has "
    "to be larger."
)
_NO_MORE_TAKEN: Final = "Nothing is taken out any more; look whether the threads or tasks still run that took elements."
_MORE: Final = "Those that came before are taken; look whether the threads or tasks still run that put them."


class Store(Protocol):
    """The store of a queue's elements, which decides the order in which they come out."""

    @property
    def takes_at_once(self) -> bool:
        """Whether several elements that are taken together are chosen among all, when there are so many."""
        ...

    def __len__(self) -> int: ...

    def put(self, element: Element) -> None:
        """Add an element."""
        ...

    def take(self) -> Element:
        """Remove the next one; there is one."""
        ...

    def put_back(self, elements: Sequence[Element]) -> None:
        """Undo several takes."""
        ...


class FifoStore:
    """First in, first out."""

    takes_at_once: Final = False

    def __init__(self) -> None:
        self._elements: deque[Element] = deque()

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, element: Element) -> None:
        """Add at the end."""
        self._elements.append(element)

    def take(self) -> Element:
        """Remove the first."""
        return self._elements.popleft()

    def put_back(self, elements: Sequence[Element]) -> None:
        """Add at the front."""
        self._elements.extendleft(reversed(elements))


class _Request:
    """What one node asks of the queue; served under the queue's lock, by any thread, until it is done or has failed.

    Args:
        what: its name, for messages.
        serve: does what can be done of it now; whether that is all.
        undo: takes back what was done, where it is given up.
        taken: where it puts the elements that it takes.
    """

    __slots__ = ("error", "is_cancelled", "is_done", "leave", "parking", "serve", "taken", "undo", "wakeup", "what")

    def __init__(
        self, what: str, serve: Callable[[], bool], undo: Callable[[], None] = lambda: None, taken: Sequence[Element] = ()
    ) -> None:
        self.what = what
        self.serve = serve
        self.undo = undo
        self.taken = taken
        self.is_done = False
        self.is_cancelled = False
        self.error: Exception | None = None
        self.wakeup: threading.Condition | None = None
        self.parking: Parking | None = None
        self.leave: Callable[[], None] = lambda: None

    @property
    def is_over(self) -> bool:
        """Whether it is served, has failed, or was given up."""
        return self.is_done or self.is_cancelled or self.error is not None

    def advance(self) -> bool:
        """Go on; whether it leaves its line."""
        try:
            self.is_done = self.serve()
        except Exception as error:
            self.undo()
            self.error = error
        return self.is_done or self.error is not None

    def wake(self) -> None:
        """Have the thread look at its request, if it sleeps, or the node run anew."""
        if self.wakeup is not None:
            self.wakeup.notify()
        if self.parking is not None:
            self.parking.resume()


class QueueState:
    """A queue that outlives steps and sessions. Safe from any thread; `enqueue`, `dequeue` and `close` block.

    Args:
        description: kind and name for messages, such as "FIFOQueue 'jobs'".
        capacity: how many elements it holds at most; negative for no limit.
        store: keeps the elements.
        kept: how many elements a dequeue leaves behind while the queue is open.
    """

    def __init__(self, description: str, capacity: int, store: Store, kept: int = 0) -> None:
        self._description = description
        self._capacity = capacity
        self._store = store
        self._kept = kept
        self._closed = False
        self._lock = threading.RLock()
        self._putters: deque[_Request] = deque()
        self._takers: deque[_Request] = deque()
        self._moved = 0
        self._taken = 0
        self._quiet_until_s = 0.0
        self._quiet_of_putters_until_s = 0.0
        self._closed_by = ""

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        with self._lock:
            return self._closed

    @property
    def size(self) -> int:
        """The number of elements in it."""
        with self._lock:
            return len(self._store)

    def enqueue(self, ctx: OpContext, elements: Sequence[Element]) -> None:
        """Put the elements in order, waiting for room where there is none.

        Raises:
            CancelledError: the queue is closed, or the step was cancelled; elements that were put stay.
        """
        put, count, next_ = self._store.put, len(elements), 0

        def serve() -> bool:
            nonlocal next_
            if self._closed:
                raise CancelledError.of(f"{self._description} is closed.{self._closed_by}")
            room = count - next_ if self._capacity < 0 else min(count - next_, self._capacity - len(self._store))
            for element in elements[next_ : next_ + room]:
                put(element)
            next_ += room
            self._moved += room
            return next_ == count

        self._ask(self._putters, ctx, _Request("Enqueue", serve))

    def dequeue(self, ctx: OpContext, count: int, allow_fewer: bool = False) -> Sequence[Element]:
        """Take `count` elements, waiting until there are so many.

        Args:
            ctx: the step.
            count: how many.
            allow_fewer: return what there is, at least one, when the queue is closed.

        Raises:
            OutOfRangeError: the queue is closed and has too few; those there are stay.
            CancelledError: the step was cancelled.
        """
        taken: list[Element] = []

        def serve() -> bool:
            store = self._store
            wanted, there = count - len(taken), len(store)
            if self._closed and not self._putters and there < wanted:
                if not (allow_fewer and (taken or there)):
                    raise OutOfRangeError.of(
                        f"{self._description} is closed and has insufficient elements (requested {count}, current size "
                        f"{there + len(taken)})"
                    )
                wanted = there
            moved = max(0, min(wanted, there if self._closed else there - self._kept))
            if moved < wanted and store.takes_at_once and not 0 <= self._capacity < count:
                moved = 0
            take = store.take
            taken.extend([take() for _ in range(moved)])
            self._moved += moved
            self._taken += moved
            return moved == wanted

        def undo() -> None:
            self._store.put_back(taken)
            taken.clear()

        return self._ask(self._takers, ctx, _Request("Dequeue", serve, undo, taken)).taken

    def close(self, ctx: OpContext | None = None, cancel_pending_enqueues: bool = False) -> None:
        """Refuse further elements; those there are can be taken. Waits for enqueues that wait, or cancels them."""
        if ctx is None or cancel_pending_enqueues:
            with self._lock:
                self._note_closed(ctx)
                for request in self._putters:
                    request.is_cancelled = True
                    request.wake()
                self._putters.clear()
                self._serve_lines()
            return

        def serve() -> bool:
            self._note_closed(ctx)
            return True

        self._ask(self._putters, ctx, _Request("Close", serve))

    def _note_closed(self, ctx: OpContext | None) -> None:
        self._closed = True
        if ctx is not None and not self._closed_by:
            self._closed_by = f" It was closed by {_where(ctx.op)}."

    def reopen(self) -> None:
        """Take elements again, also after `close`; those that are there are dropped."""
        with self._lock:
            while len(self._store):
                self._store.take()
            self._closed = False
            self._closed_by = ""
            self._serve_lines()

    def _tell(self, ctx: OpContext, waited_s: float) -> None:
        """Say for what a taker waits: each of a queue's takers may wait long at every step, so the queue counts the notices."""
        now_s = time.monotonic()
        if now_s < self._quiet_until_s:
            return
        self._quiet_until_s = now_s + (RARELY_S if self._quiet_until_s else SECOND_S - FIRST_S) - 1
        kept = f" and keeps {self._kept} to choose from (min_after_dequeue)" if self._kept and len(self._store) else ""
        _LOG.warning(
            "%s has waited %.0f s for elements of %s, which has %d%s. %s",
            _where(ctx.op), waited_s, self._description, len(self._store), kept, self._advice(),
        )  # fmt: skip

    def _tell_of_room(self, ctx: OpContext, waited_s: float, taken: int, asker: str) -> None:
        """Say that a putter waits for room which nobody makes; `taken` is how many had been taken when the wait began.

        `asker` is the name of the thread that put.
        """
        now_s = time.monotonic()
        # Threads that fill a queue stand at it whenever those that take do something else, and nobody waits for them. Here they
        # may have no name: their enqueue runs in another task, or under a deadline. A program's main thread is waited for.
        is_used = bool(self._taken) and asker != threading.main_thread().name
        is_early = waited_s < SECOND_S and (is_used or asker.startswith(_FILLER))
        if now_s < self._quiet_of_putters_until_s or self._taken > taken or is_early:
            return
        self._quiet_of_putters_until_s = now_s + (RARELY_S if self._quiet_of_putters_until_s else SECOND_S - FIRST_S) - 1
        _LOG.warning(
            "%s has waited %.0f s for room in %s, which has %d of %d elements. %s",
            _where(ctx.op), waited_s, self._description, len(self._store), self._capacity,
            _NO_MORE_TAKEN if self._taken else _NONE_TAKEN,
        )  # fmt: skip

    def _advice(self) -> str:
        if _TOKENS in self._description:
            return _OF_TOKENS
        return _MORE if self._moved else _NONE_YET

    def _ask(self, line: deque[_Request], ctx: OpContext, request: _Request) -> _Request:
        """Have a request served in its line, and wait for that where it takes others; returns it, or the parked one.

        Raises:
            Parked: it is not served yet, and waits without a thread.
        """
        parking = ctx.parking
        if parking is not None and parking.request is not None:
            request = parking.request
            request.parking = None
            request.leave()
        else:
            ctx.raise_if_cancelled()
            with self._lock:
                if line or not request.advance():
                    line.append(request)
                self._serve_lines()
                if parking is not None and not request.is_over:
                    raise self._park(line, ctx, request, parking)
            if not request.is_over:
                self._wait(line, ctx, request)
        if request.is_cancelled:
            ctx.raise_if_cancelled()
            raise CancelledError.of(f"{request.what} operation was cancelled")
        if request.error is not None:
            raise request.error
        return request

    def _serve_lines(self) -> None:
        """Serve those whose turn it is, until nothing moves any more. Under the lock."""
        putters, takers = self._putters, self._takers
        before = -1
        while before != self._moved and (putters or takers):
            before = self._moved
            for line in (putters, takers):
                while line and line[0].advance():
                    line.popleft().wake()

    def _park(self, line: deque[_Request], ctx: OpContext, request: _Request, parking: Parking) -> Parked:
        """Have the node of a request in a line run anew when it is served or has failed. Under the lock."""
        request.parking = parking
        parked = parking.keep(request)
        wait = ParkedWait(self._teller(line, ctx))
        wait.begin()

        def cancel() -> None:
            wait.end()
            request.parking = None  # its step is over
            self._give_up(line, request)

        withdraw = ctx.on_cancel(cancel)

        def leave() -> None:
            wait.end()
            withdraw()

        request.leave = leave
        return parked

    def _wait(self, line: deque[_Request], ctx: OpContext, request: _Request) -> None:
        """Sleep until a request in a line is served, has failed, or is given up with its step."""
        notice: WaitNotice | None = None
        tell = self._teller(line, ctx)
        withdraw = ctx.on_cancel(lambda: self._give_up(line, request))
        try:
            with self._lock:
                while not request.is_over:
                    notice = notice or WaitNotice()
                    request.wakeup = request.wakeup or threading.Condition(self._lock)
                    request.wakeup.wait(notice.left_s)
                    if notice.is_due():
                        tell(notice.waited_s)
        except BaseException:
            self._give_up(line, request)
            raise
        finally:
            withdraw()

    def _give_up(self, line: deque[_Request], request: _Request) -> None:
        with self._lock:
            # At once, not when the waiting thread wakes: who cancelled the step may look at the queue next.
            request.undo()
            request.is_cancelled = True
            with contextlib.suppress(ValueError):
                line.remove(request)
            request.wake()
            self._serve_lines()

    def _teller(self, line: deque[_Request], ctx: OpContext) -> Callable[[float], None]:
        """What tells of a wait that begins now, on this thread or without one, when it has lasted so many seconds."""
        if line is self._takers:
            return lambda waited_s: self._tell(ctx, waited_s)
        taken, asker = self._taken, threading.current_thread().name
        return lambda waited_s: self._tell_of_room(ctx, waited_s, taken, asker)


def _where(op: Operation) -> str:
    return named(op.type, op.name, op.built_from)

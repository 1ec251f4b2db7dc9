"""Lease: the reader lease of one connection, between threads. The rules are `protocol.reader_lease`'s."""

from __future__ import annotations

import threading
import time

from weft.channel.waiting.wakeup_pipe import WakeupPipe
from weft.protocol.reader_lease import LeaseStep, ReaderLease, Steps

_READ, _STAY_BACK = LeaseStep.READ, LeaseStep.STAY_BACK


class Lease:
    """Hands one connection's reading from thread to thread; the connection's own reader has it first. Thread-safe.

    The own reader calls `take_as_owner` and `give_as_owner`. A waiter calls `take` until it has the lease, `give` when it has
    had it, and `leave` instead if it never got it; its pipe is written to when it may try again. One that does without begins
    by `take_free`. `rules` may be looked at without the lock.
    """

    __slots__ = ("_lock", "_owner", "rules")

    def __init__(self) -> None:
        self.rules: ReaderLease[WakeupPipe] = ReaderLease()
        self._lock = threading.Lock()
        self._owner = threading.Condition(self._lock)  # the own reader waits here

    def take_as_owner(self) -> bool:
        """Wait for the lease; return False if reading has been stopped."""
        with self._lock:
            while True:
                step, timeout_s = self.rules.owner_asks(time.monotonic())
                if step is not _STAY_BACK:
                    return step is _READ
                self._owner.wait(timeout_s)

    def give_as_owner(self) -> None:
        """Hand the lease to the waiters."""
        with self._lock:
            self._execute(self.rules.owner_gives())

    def take(self, waiter: WakeupPipe) -> bool:
        """Take the lease if nobody has it; if somebody has, the waiter is woken when it may try again."""
        with self._lock:
            return self.rules.waiter_asks(waiter) is _READ

    def take_free(self) -> bool:
        """Take the lease if nobody has it; a waiter that asks so is not woken later."""
        with self._lock:
            return self.rules.waiter_tries()

    def give(self) -> None:
        """Read no more."""
        with self._lock:
            steps = self.rules.waiter_gives(time.monotonic())
            if steps:
                self._execute(steps)

    def leave(self, waiter: WakeupPipe) -> None:
        """Wait for the lease no more."""
        with self._lock:
            self._execute(self.rules.waiter_leaves(waiter, time.monotonic()))

    def tell_waiters(self) -> None:
        """Say that a message was handled: it may be the one that a waiter waits for whom nothing else wakes."""
        with self._lock:
            for waiter in self.rules.waiting:
                if waiter.awaits_message:
                    waiter.wake()

    def stop(self) -> None:
        """Let nobody read from now on, except the thread that is reading just now."""
        with self._lock:
            self._execute(self.rules.stop())

    def note_closed(self) -> None:
        """Say that the connection is closed and its owner knows."""
        with self._lock:
            self._execute(self.rules.note_closed())

    def _execute(self, steps: Steps) -> None:
        for step in steps:
            match step:
                case LeaseStep.WAKE_WAITERS:
                    self._wake_waiters()
                case LeaseStep.WAKE_OWNER:
                    self._owner.notify()
                case _:
                    raise AssertionError(f"{step.name} is answered where it was asked for")

    def _wake_waiters(self) -> None:
        for waiter in self.rules.waiting:
            waiter.wake()

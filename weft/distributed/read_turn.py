"""Whose turn it is to read a connection: its own thread's, or that of a thread which waits for an answer.

A waiter that reads for itself gets its answer without waking another thread. The connection's thread therefore stays
back while there are waiters and for `LINGER_S` after the last one left, so that a loop of calls finds the turn free; it
reads at all other times, so that messages are taken without any waiter. A call that comes while the thread reads is
answered by it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

LINGER_S: Final = 0.005
"""How long the connection's thread leaves the turn free after a waiter: what an unasked message may be delayed by."""


class ReadTurn:
    """Hands one connection's reading from thread to thread.

    `stop` ends all reading, after which the connection's thread cleans up; `end` lets the remaining waiters go.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiter_turn = threading.Condition(self._lock)
        self._thread_turn = threading.Condition(self._lock)
        self._is_taken = False
        self._is_stopped = False
        self._is_ended = False
        self._sleeps = False  # the connection's thread, until it is notified
        self._waiters = 0
        self._last_wait_s = -LINGER_S

    @property
    def has_waiters(self) -> bool:
        """Whether the connection's thread, if it reads, shall hand its turn over after this message."""
        return self._waiters > 0

    def take(self) -> bool:
        """For the connection's thread: wait for the turn; return False if reading has been stopped."""
        with self._lock:
            while self._is_taken or (not self._is_stopped and (self._waiters or self._lingers())):
                # The end of a long wait is notified; in a loop of short ones, a wake-up each would cost what it saves.
                self._sleeps = not self._lingers()
                self._thread_turn.wait(None if self._sleeps else LINGER_S)
                self._sleeps = False
            self._is_taken = not self._is_stopped
            return self._is_taken

    def give(self) -> None:
        """For the connection's thread: hand the turn to the waiters."""
        with self._lock:
            self._is_taken = False
            self._waiter_turn.notify_all()

    def stop(self) -> None:
        """Nobody shall read from now on, except who is reading just now."""
        with self._lock:
            self._is_stopped = True
            self._thread_turn.notify_all()

    def end(self) -> None:
        """The connection is closed and its owner knows: wake all waiters."""
        with self._lock:
            self._is_stopped = self._is_ended = True
            self._waiter_turn.notify_all()

    def wait_for(self, is_done: Callable[[], bool], timeout_s: float | None, read: Callable[[float | None], None]) -> bool:
        """For a waiter: wait, reading when it is its turn, until `is_done`, the end or the timeout; return `is_done()`.

        `read(timeout_s)` reads and handles what comes next, or returns after the timeout; it calls `stop` at the end.
        """
        deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
        with self._lock:
            self._waiters += 1
            try:
                while not is_done():
                    left_s = None if deadline_s is None else deadline_s - time.monotonic()
                    if self._is_ended or (left_s is not None and left_s <= 0):
                        return is_done()
                    if self._is_taken or self._is_stopped:
                        self._waiter_turn.wait(left_s)
                    else:
                        self._read(read, left_s)
                return True
            finally:
                self._waiters -= 1
                self._last_wait_s = time.monotonic()
                if self._sleeps and not self._waiters:
                    self._thread_turn.notify_all()

    def _read(self, read: Callable[[float | None], None], timeout_s: float | None) -> None:
        self._is_taken = True
        self._lock.release()
        try:
            read(timeout_s)
        finally:
            self._lock.acquire()
            self._is_taken = False
            if self._waiters > 1:
                self._waiter_turn.notify_all()
            if self._is_stopped:
                self._thread_turn.notify_all()

    def _lingers(self) -> bool:
        return time.monotonic() - self._last_wait_s < LINGER_S

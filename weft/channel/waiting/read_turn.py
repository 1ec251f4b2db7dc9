"""Whose turn it is to read a connection: its own thread's, or that of a thread which waits for an answer.

A waiter that reads for itself gets its answer without waking another thread. The connection's thread therefore stays
back while there are waiters and for `linger_s` after the last one left, so that a loop of calls finds the turn free; it
reads at all other times, so that messages are taken without any waiter. A call that comes while the thread reads is
answered by it.
"""

from __future__ import annotations

import threading
import time
from typing import Final

from weft.channel.waiting.doorbell import Doorbell

LINGER_S: Final = 0.005
"""How long the connection's thread leaves the turn free after a waiter, unless told otherwise."""


class ReadTurn:
    """Hands one connection's reading from thread to thread.

    The connection's thread calls `take` and `give`; a waiter calls `enter`, `take_free` until it has the turn, and `leave`.
    `stop` ends all reading, after which the connection's thread cleans up; `end` says that it has.
    `linger_s` is what an unasked message may be delayed by, and how often the connection's thread wakes in a loop of calls.
    """

    def __init__(self) -> None:
        self.linger_s = LINGER_S
        self._lock = threading.Lock()
        self._thread_turn = threading.Condition(self._lock)
        self._is_taken = False
        self._sleeps = False  # the connection's thread, until it is notified
        self._waiters: list[Doorbell] = []
        self._last_wait_s = -self.linger_s
        self.is_stopped = False
        self.is_ended = False

    @property
    def has_waiters(self) -> bool:
        """Whether the connection's thread, if it reads, shall hand its turn over after this message."""
        return bool(self._waiters)

    def take(self) -> bool:
        """For the connection's thread: wait for the turn; return False if reading has been stopped."""
        with self._lock:
            while self._is_taken or (not self.is_stopped and (self._waiters or self._lingers())):
                # The end of a long wait is notified; in a loop of short ones, a wake-up each would cost what it saves.
                self._sleeps = not self._lingers()
                self._thread_turn.wait(None if self._sleeps else self.linger_s)
                self._sleeps = False
            self._is_taken = not self.is_stopped
            return self._is_taken

    def give(self) -> None:
        """For the connection's thread: hand the turn to the waiters."""
        with self._lock:
            self._is_taken = False
            self._ring_others(None)

    def stop(self) -> None:
        """Nobody shall read from now on, except who is reading just now."""
        with self._lock:
            self.is_stopped = True
            self._thread_turn.notify_all()

    def end(self) -> None:
        """The connection is closed and its owner knows: wake all waiters."""
        with self._lock:
            self.is_stopped = self.is_ended = True
            self._ring_others(None)

    def enter(self, waiter: Doorbell) -> bool:
        """For a waiter: begin to wait; return whether the turn is the waiter's. Its bell rings when it may try again."""
        with self._lock:
            self._waiters.append(waiter)
            return self._take_free()

    def take_alone(self) -> bool:
        """For a waiter that needs no bell while it reads: take the turn if nobody has it. Others wait meanwhile."""
        with self._lock:
            is_free = not (self._is_taken or self.is_stopped)
            if is_free:
                self._is_taken = True
            return is_free

    def give_alone(self) -> None:
        """For a waiter that has taken the turn so: wait no more."""
        with self._lock:
            self._last_wait_s = time.monotonic()
            self._is_taken = False
            if self._waiters:
                self._ring_others(None)
            if self.is_stopped or (self._sleeps and not self._waiters):
                self._thread_turn.notify_all()

    def take_free(self) -> bool:
        """For a waiter that has entered: take the turn if nobody has it."""
        with self._lock:
            return self._take_free()

    def tell_others(self, waiter: Doorbell) -> None:
        """For the waiter that reads: a message that it has handled may be what another one waits for."""
        if len(self._waiters) > 1:
            with self._lock:
                self._ring_others(waiter)

    def tell_waiters(self) -> None:
        """For who reads and keeps the turn: a message that was handled may be what somebody waits for."""
        with self._lock:
            self._ring_others(None)

    def give_back(self, waiter: Doorbell) -> None:
        """For the waiter whose turn it is: read no more."""
        with self._lock:
            self._give_back(waiter)

    def leave(self, waiter: Doorbell, has_turn: bool) -> None:
        """For a waiter: wait no more, and give the turn back."""
        with self._lock:
            self._waiters.remove(waiter)
            self._last_wait_s = time.monotonic()
            if has_turn:
                self._give_back(waiter)
            if self._sleeps and not self._waiters:
                self._thread_turn.notify_all()

    def _take_free(self) -> bool:
        if self._is_taken or self.is_stopped:
            return False
        self._is_taken = True
        return True

    def _give_back(self, waiter: Doorbell) -> None:
        self._is_taken = False
        self._ring_others(waiter)
        if self.is_stopped:
            self._thread_turn.notify_all()

    def _ring_others(self, waiter: Doorbell | None) -> None:
        for other in self._waiters:
            if other is not waiter:
                other.ring()

    def _lingers(self) -> bool:
        return time.monotonic() - self._last_wait_s < self.linger_s

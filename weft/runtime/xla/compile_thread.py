"""CompileThread: the one thread that compiles while steps go on."""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from weft.runtime.xla.calls_at_exit import calls_at_exit


class CompileThread:
    """Does one job after another, in order, on a daemon thread that there is only while there are jobs. Safe from any thread.

    One at a time: XLA divides each compilation between all cores itself. The end of the process drops the jobs that are not
    begun; `calls_at_exit` has what becomes of the one under way. A forked child has neither thread nor jobs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: deque[Callable[[], None]] = deque()
        self._is_running = False
        self._is_ending = False

    def submit(self, job: Callable[[], None]) -> None:
        """Do a job soon, which must not raise; at the end of the process never."""
        with self._lock:
            if self._is_ending:
                return
            self._jobs.append(job)
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(target=self._work, name="weft-compile", daemon=True).start()

    def end(self) -> None:
        """Begin no further job."""
        with self._lock:
            self._is_ending = True
            self._jobs.clear()

    def forget(self) -> None:
        """In a forked child."""
        self.__init__()  # type: ignore[misc]

    def _work(self) -> None:
        while True:
            # Before the job is taken, so that the end of the process finds it among the jobs or under way.
            with calls_at_exit:
                with self._lock:
                    if not self._jobs:
                        self._is_running = False
                        return
                    job = self._jobs.popleft()
                job()
                del job  # which keeps what it compiles alive


compile_thread: Final = CompileThread()
# Before `calls_at_exit` waits.
atexit.register(compile_thread.end)
os.register_at_fork(after_in_child=compile_thread.forget)

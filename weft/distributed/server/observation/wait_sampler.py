"""WaitSampler: for whom steps wait, found by looking at them now and then, so that no step has to note it.

A look takes some 20 µs, and 100 where its thread has to wait for those of steps; there are ten a second while somebody watches,
and nothing of it is in the way of a step. Each look adds the time since the one before to what the steps do that run just then.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Final

from weft.distributed.master.master import Master
from weft.runtime.worker import Worker

_PERIOD_S: Final = 0.1
_LASTS_S: Final = 30.0


class WaitSampler:
    """Looks at the steps of one server for a while after each time that it was asked for. Safe from any thread.

    Args:
        master, worker: the server's.
        clock: seconds that only grow.
    """

    def __init__(self, master: Master, worker: Worker, clock: Callable[[], float] = time.monotonic) -> None:
        self._master = master
        self._worker = worker
        self._clock = clock
        self._lock = threading.Lock()
        self._until_s = 0.0
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        # Chance, so that looks and steps cannot keep in step with each other.
        self._random = random.Random()
        self.computing_s = 0.0
        """How long steps had something to run here; several at a time count several times."""
        self.waiting_s: dict[str, float] = {}
        """How long steps had nothing to run here before these tasks sent something."""

    def keep_on(self) -> None:
        """Look for another half minute."""
        with self._lock:
            self._until_s = self._clock() + _LASTS_S
            if self._thread is None and not self._stopped.is_set():
                self._thread = threading.Thread(target=self._run, name="weft-look-at-steps", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        last_s = self._clock()
        while not self._stopped.wait(self._random.uniform(0.5, 1.5) * _PERIOD_S):
            now_s = self._clock()
            self.look(now_s - last_s)
            last_s = now_s
            with self._lock:
                if now_s > self._until_s:
                    self._thread = None
                    return

    def look(self, took_s: float) -> None:
        """Count so many seconds for what each step that runs now does."""
        here = set()
        for step in self._worker.running_steps:
            here.add(step.step_id)
            self._note(step.peers_awaited, took_s)
        for run in self._master.running_steps:
            if run.step_id not in here:
                self._note([task for task in run.waits_for if task != self._worker.task], took_s)

    def _note(self, tasks: list[str], took_s: float) -> None:
        if not tasks:
            self.computing_s += took_s
        for task in tasks:
            self.waiting_s[task] = self.waiting_s.get(task, 0.0) + took_s

"""JobWords: what a launcher says of its tasks, wherever they run."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from contextlib import suppress

from weft.cli.cluster_job import LaunchedTask
from weft.cli.display import Display
from weft.cli.supervision import exit_code_of


class JobWords:
    """Tells of one job's tasks; quietly where nobody reads any more.

    Args:
        display: shows it.
        restarts: how often each task that fails is started again.
    """

    def __init__(self, display: Display, restarts: int = 0) -> None:
        self._display = display
        self._restarts = restarts
        self._began_s = time.monotonic()
        self._stopped: set[LaunchedTask] = set()

    def note(self, text: str) -> None:
        """Say something of the job as a whole."""
        with suppress(BrokenPipeError):
            self._display.note(text)

    def started(self, task: LaunchedTask, process: int) -> None:
        """A task has begun to run."""
        self._display.task_state(task.name, "running")
        self.note(f"{task.name} started, process {process}" + (f", {task.address}" if task.address else ""))

    def may_join(self, tasks: Sequence[LaunchedTask], started: LaunchedTask) -> None:
        """Tasks that have not been started may come later."""
        if tasks:
            self.note(f"{_names(tasks)} may join later: weft task --join grpc://{started.address} PROGRAM")

    def stopping(self, tasks: Sequence[LaunchedTask]) -> None:
        """Tasks are asked to end."""
        self.note(f"stopping {_names(tasks)}")
        for task in tasks:
            self._stopped.add(task)
            self._display.task_state(task.name, "stopping")

    def killing(self, tasks: Sequence[LaunchedTask]) -> None:
        """Tasks are not asked any more."""
        self.note(f"killing {_names(tasks)}")

    def late(self, task: LaunchedTask, servers: Sequence[LaunchedTask]) -> None:
        """A task waits for servers that will not come back."""
        verb = "have" if len(servers) > 1 else "has"
        self.note(f"{task.name} waits for {_names(servers)}, which {verb} ended with the training: it is not waited for")

    def ended(self, task: LaunchedTask, return_code: int) -> None:
        """A task has ended as it should."""
        how = "stopped" if task in self._stopped else "done"
        self._display.task_state(task.name, how)
        asked = (0, -signal.SIGTERM, exit_code_of(-signal.SIGTERM))
        detail = "" if return_code in asked else f" ({_cause(return_code)})"
        self.note(f"{task.name} {how}{detail} after {self._elapsed_s():.1f} s")

    def failed(self, task: LaunchedTask, return_code: int, has_lines: bool, restarts_left: int | None = None) -> None:
        """A task has failed; how often it may still be started again, after this time, when it is."""
        self._display.task_state(task.name, "failed")
        told = f"; its last words stand above, behind {task.name!r}" if has_lines else "; it printed nothing"
        if restarts_left is not None:
            left = restarts_left
            times = "once more" if left == 1 else f"{left} times more" if left else "not again"
            told += f"; it is started again, after a further failure {times}"
        elif not self._restarts:
            told += "; the job ends: --restart on-failure would start it again"
        self.note(f"{task.name} failed with {_cause(return_code)} after {self._elapsed_s():.1f} s{told}")

    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began_s


def _names(tasks: Sequence[LaunchedTask]) -> str:
    return ", ".join(task.name for task in tasks)


def _cause(return_code: int) -> str:
    if return_code < 0:
        return f"{signal.Signals(-return_code).name} (exit code {exit_code_of(return_code)})"
    return f"exit code {return_code}"

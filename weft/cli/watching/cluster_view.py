"""ClusterView: what was seen of a cluster's tasks so far: the latest reports, their rates over time, and who is missing."""

from __future__ import annotations

import contextlib
from collections import deque
from dataclasses import dataclass, field
from typing import Final

from weft.cli.watching.rates import Rates, rates_between
from weft.distributed.client.observation.observing import ClusterObserver
from weft.distributed.client.observation.task_report import TaskReport, UpdateReport, short_name
from weft.errors import OpError

_KEPT: Final = 120
# An update of a running job waits for moments; one that has waited for so long waits for somebody.
_LATE_S: Final = 1.0


@dataclass
class TaskView:
    """One task: its address, its latest report, why there is no newer one, and its rates, the oldest first."""

    name: str
    address: str
    report: TaskReport | None = None
    missing: str = ""
    rates: deque[Rates] = field(default_factory=lambda: deque(maxlen=_KEPT))

    @property
    def state(self) -> str:
        """`serving`, `draining`, `stopped` or `missing`."""
        return "missing" if self.missing or self.report is None else self.report.state

    @property
    def now(self) -> Rates:
        """The latest rates."""
        return self.rates[-1] if self.rates else Rates(0.0)


class ClusterView:
    """Looks at a cluster when it is told to. Not for several threads at a time.

    Args:
        address: `host:port` of any task.
        timeout_s: how long each task has to answer.
    """

    def __init__(self, address: str, timeout_s: float = 2.0) -> None:
        self._observer = ClusterObserver(address, timeout_s)
        self._address = address
        self._is_open = False
        self.tasks: dict[str, TaskView] = {}
        """By name, in order of job and number; none before the first task has answered."""
        self.missing = f"no task at {address} has been asked yet"
        """Why there are no tasks."""

    def open(self) -> None:
        """Find out which tasks there are.

        Raises:
            OpError: the task at the address does not tell.
        """
        self._observer.open()
        self._is_open = True
        self.tasks = {short_name(task): TaskView(short_name(task), at) for task, at in self._observer.addresses.items()}

    def look(self) -> None:
        """Ask all tasks. Blocks for the timeout at most; a cluster that is not there yet is no error."""
        if not self._is_open:
            try:
                self.open()
            except OpError as error:
                self.missing = error.message
                return
        for task, found in self._observer.reports().items():
            view = self.tasks[short_name(task)]
            if isinstance(found, OpError):
                view.missing = found.message
                continue
            if view.report is not None:
                view.rates.append(rates_between(view.report, found))
            view.report, view.missing = found, ""

    def close(self) -> None:
        """Let go of the tasks."""
        with contextlib.suppress(OpError):
            self._observer.close()

    def late_updates(self) -> list[tuple[str, UpdateReport]]:
        """The updates of replicas in step that wait for somebody, each with the task that keeps its accumulator."""
        return [
            (task.name, update)
            for task in self.tasks.values()
            if task.report is not None
            for update in task.report.late_updates
            if update.waited_s >= _LATE_S
        ]

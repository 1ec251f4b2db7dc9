"""MasterStep: the master's view of one step over several tasks, as a state machine without I/O.

A step is running until every task's part is done (at once when it has no part), or one part has failed; the first failure is
the step's. What arrives after that is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from weft.errors import OpError


class StepState(Enum):
    """Where a step stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AbortParts:
    """Tell these tasks to give the step up."""

    tasks: tuple[str, ...]
    error: OpError


class MasterStep:
    """Events in (`part_done`, `part_failed`), instructions out; the results are in `fetches` and `error`."""

    __slots__ = ("_waiting", "error", "fetches", "state", "step_id")

    def __init__(self, step_id: int, tasks: Iterable[str]) -> None:
        self.step_id = step_id
        self.fetches: dict[str, Any] = {}
        self.error: OpError | None = None
        self._waiting = set(tasks)
        self.state = StepState.RUNNING if self._waiting else StepState.DONE

    @property
    def waiting_for(self) -> list[str]:
        """The tasks whose parts are not over, in order of name."""
        return sorted(self._waiting)

    def part_done(self, task: str, fetches: Any) -> None:
        """A task's part is over and gave these fetches."""
        if self.state is StepState.RUNNING and task in self._waiting:
            self._waiting.remove(task)
            self.fetches[task] = fetches
            if not self._waiting:
                self.state = StepState.DONE

    def part_failed(self, task: str, error: OpError) -> AbortParts | None:
        """A task's part failed (or the task was lost); the other parts are to be given up."""
        if self.state is not StepState.RUNNING or task not in self._waiting:
            return None
        self._waiting.remove(task)
        return self.cancel(error)

    def cancel(self, error: OpError) -> AbortParts | None:
        """The caller gives the step up: a timeout, a closed session, an interrupt."""
        if self.state is not StepState.RUNNING:
            return None
        self.state = StepState.FAILED
        self.error = error
        return AbortParts(tuple(self.waiting_for), error)

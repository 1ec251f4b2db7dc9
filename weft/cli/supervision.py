"""The rules of a launched job: what to do when a task ends, a signal comes or time is up. Sans-IO.

Parameter servers serve until everybody else is done, and so does a task that tells that it only serves. Every other task has
an end of its own, unless the launcher was told whose end is the job's. If there are only parameter servers, they are what is
waited for. A task that fails is started again, as often as the job's description allows, and is then as if it had not ended.
When the chief is done and the parameter servers have ended with the training, a task whose session waits for one of them, since
it has begun late or come back, would wait for ever: it is not waited for, and none is started again but an evaluator, which
needs no server. A chief that failed behind the training, and waits for them when it comes back, ends the job with its code.

    RUNNING ── the tasks that end by themselves have ended ──> STOPPING (exit code 0)
       │ ───── a task failed too often for a restart ────────> STOPPING (its exit code)
       │ ───── a signal came ────────────────────────────────> STOPPING (128 + signal)
    STOPPING ─ every task has ended ─────────────────────────> DONE
       └────── the grace is over, or a signal came again: tasks that are left are killed
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from weft.cli.cluster_job import LaunchedTask


class JobState(enum.Enum):
    """Where the job is; it only moves forward."""

    RUNNING = enum.auto()
    STOPPING = enum.auto()
    DONE = enum.auto()


@dataclass(frozen=True)
class TaskEnded:
    """Event: a process ended, with its exit code, or minus the signal that killed it."""

    task: LaunchedTask
    return_code: int


@dataclass(frozen=True)
class TaskServes:
    """Event: a task told that from now on it only serves the others."""

    task: LaunchedTask


@dataclass(frozen=True)
class TaskWaits:
    """Event: a task told for which addresses its sessions wait; for none any more where they are empty."""

    task: LaunchedTask
    addresses: tuple[str, ...]


@dataclass(frozen=True)
class Signalled:
    """Event: the launcher itself received a signal that asks it to end."""

    number: int


@dataclass(frozen=True)
class GraceOver:
    """Event: the time that StopTasks gave has passed."""


@dataclass(frozen=True)
class ReportEnd:
    """Instruction: tell that a task ended."""

    task: LaunchedTask
    return_code: int


@dataclass(frozen=True)
class ReportFailure:
    """Instruction: tell that this task failed and ended the job."""

    task: LaunchedTask
    return_code: int


@dataclass(frozen=True)
class RestartTask:
    """Instruction: tell that this task failed, and start it again; `left` is how often that may happen to it after this."""

    task: LaunchedTask
    return_code: int
    left: int


@dataclass(frozen=True)
class ReportLate:
    """Instruction: tell that a task waits for servers that have ended with the training, so that it is not waited for."""

    task: LaunchedTask
    servers: tuple[LaunchedTask, ...]


@dataclass(frozen=True)
class StopTasks:
    """Instruction: ask these tasks to end, and send GraceOver when they have had the time for it."""

    tasks: tuple[LaunchedTask, ...]


@dataclass(frozen=True)
class KillTasks:
    """Instruction: end these tasks now."""

    tasks: tuple[LaunchedTask, ...]


Event = TaskEnded | TaskServes | TaskWaits | Signalled | GraceOver
Instruction = ReportEnd | ReportFailure | ReportLate | RestartTask | StopTasks | KillTasks


def exit_code_of(return_code: int) -> int:
    """The exit code that stands for a process's end, as shells have it: 128 + signal for one that was killed."""
    return 128 - return_code if return_code < 0 else return_code


class Supervision:
    """The state of one job. `handle` takes an event and returns what to do, in order; single-threaded.

    Args:
        tasks: the job's.
        until: the task whose end is the job's; None for the rules above.
        restarts: how often each task that fails is started again.
    """

    def __init__(self, tasks: Sequence[LaunchedTask], until: LaunchedTask | None = None, restarts: int = 0) -> None:
        self.state = JobState.RUNNING
        self.exit_code = 0
        self._alive = list(tasks)
        self._until = until
        self._restarts = dict.fromkeys(tasks, restarts)
        self._awaited = [task for task in tasks if task.job != "ps"] or list(tasks)
        self._chief = next((task for task in tasks if task.job in ("chief", "worker")), None)
        self._servers = [task for task in tasks if task.job == "ps"]
        self._done: set[LaunchedTask] = set()
        self._failures: dict[LaunchedTask, int] = {}
        """How tasks that were started again had failed."""
        self._waits: dict[LaunchedTask, tuple[str, ...]] = {}
        """For which addresses sessions of a task wait."""
        self._has_end = False
        """Whether a task that is waited for has come to its end."""

    def handle(self, event: Event) -> list[Instruction]:
        """Take one event."""
        match event:
            case TaskEnded(task, return_code):
                return self._task_ended(task, return_code)
            case TaskServes(task):
                return self._task_serves(task)
            case TaskWaits(task, addresses):
                self._waits[task] = addresses
                return self._stop_when_done() if self.state is JobState.RUNNING else []
            case Signalled(number):
                return self._signalled(number)
            case GraceOver():
                return [KillTasks(tuple(self._alive))] if self._alive else []

    def _task_ended(self, task: LaunchedTask, return_code: int) -> list[Instruction]:
        needs_servers = task.job != "evaluator"
        may_restart = self._restarts[task] > 0 and not (needs_servers and self._is_trained())
        if self.state is JobState.RUNNING and return_code != 0 and may_restart:
            self._restarts[task] -= 1
            self._failures[task] = return_code
            self._waits.pop(task, None)
            return [RestartTask(task, return_code, self._restarts[task])]
        self._alive.remove(task)
        if self.state is JobState.RUNNING and return_code != 0:
            return [ReportFailure(task, return_code), *self._stop(exit_code_of(return_code))]
        self._done.add(task)
        self._has_end = self._has_end or task in self._awaited
        report = ReportEnd(task, return_code)
        return [report, *self._stop_when_done()]

    def _task_serves(self, task: LaunchedTask) -> list[Instruction]:
        if task in self._awaited and self.state is JobState.RUNNING:
            self._awaited.remove(task)
            return self._stop_when_done()
        return []

    def _stop_when_done(self) -> list[Instruction]:
        late = self._late()
        if self.state is JobState.RUNNING and self._alive:
            awaited = self._awaited if self._until is None else [self._until]
            # While every task only serves, clients from elsewhere may use them.
            has_end = self._has_end or bool(late) if self._until is None else True
            if not has_end or any(task in self._alive and task not in late for task in awaited):
                return []
        told = [ReportLate(task, tuple(self._servers)) for task in late] if self.state is JobState.RUNNING else []
        exit_code = exit_code_of(self._failures[self._chief]) if self._chief in late else self.exit_code
        return [*told, *self._stop(exit_code)]

    def _late(self) -> list[LaunchedTask]:
        """The tasks whose sessions wait for parameter servers that have ended with the training."""
        if not self._has_no_server():
            return []
        ended = {server.address for server in self._servers}
        late = [task for task in self._alive if ended.intersection(self._waits.get(task, ()))]
        # One that has not failed may wait for servers that somebody has stopped, and brings back elsewhere.
        is_chief_late = self._chief in late and self._chief in self._failures
        return late if self._is_trained() or is_chief_late else []

    def _has_no_server(self) -> bool:
        return bool(self._servers) and self._done.issuperset(self._servers)

    def _is_trained(self) -> bool:
        """Whether chief and parameter servers have come to their ends, so that nobody can train any more."""
        return self._chief in self._done and self._has_no_server()

    def _signalled(self, number: int) -> list[Instruction]:
        if self.state is JobState.RUNNING:
            return self._stop(128 + number)
        return [KillTasks(tuple(self._alive))] if self._alive else []

    def _stop(self, exit_code: int) -> list[Instruction]:
        was_running = self.state is JobState.RUNNING
        self.exit_code = exit_code
        self.state = JobState.STOPPING if self._alive else JobState.DONE
        return [StopTasks(tuple(self._alive))] if was_running and self._alive else []

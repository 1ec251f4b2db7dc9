"""A training job's end is told to the tasks that run, whoever else has ended."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from weft.errors import DeadlineExceededError, UnavailableError
from weft.protocol.job_watch import DONE, JobNote
from weft.training.sessions import job_notes
from weft.training.sessions.job_notes import JobNotes

_PATIENCE_S = 20.0


class _BoardOfEnded:
    """The board of a session, some of whose tasks have ended."""

    def keep_on(self, *_: object) -> None:
        raise UnavailableError.of("a task has ended")


def test_tasks_are_told_of_the_end_while_others_that_have_ended_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    is_told = threading.Event()

    class Board:
        def __init__(self, _target: str, _config: object, tasks: list[str], _timeout_ms: int) -> None:
            self._tasks = tasks

        def keep(self, _name: str, _note: bytes) -> None:
            if self._tasks == ["/job:ps/task:0"]:
                told.extend(self._tasks)
                is_told.set()
                return
            if not is_told.wait(_PATIENCE_S):
                told.append("waited in vain")
            raise DeadlineExceededError.of("it has ended")

        def close(self) -> None:
            pass

    monkeypatch.setattr(job_notes, "Board", Board)
    board: Any = _BoardOfEnded()
    notes = JobNotes(board, "grpc://localhost:1", None, True, {})
    notes._tasks = ["/job:actor/task:0", "/job:learner/task:0", "/job:ps/task:0"]
    notes.post(JobNote("a chief", "a process", DONE, ""))
    assert told == ["/job:ps/task:0"]

"""JobWatch: whether the training job that a server serves has ended, from the chief's note and from who is still there.

A chief leaves a note with each task of its model when it begins to train, and another when it ends. A job is over when its
chief has said so and everybody who had a session on the server has left, so that a program which looks at its model after the
training, or trains once more, finds it. A chief that was killed says nothing; it, or another one, may come back for some time.
A replica that has not come yet, since it begins late, is waited for as long, and so is one that has left without a word, which
somebody may start again: they find the model that the others have trained.

    no note ─────────> goes on: nobody has trained here
    somebody is here > goes on
    all are done ────> DONE, after a moment without anybody, or after `lost_job_s` if a replica has never come, or was lost
    one is not ──────> FAILED with the reason, when nobody has come back for `lost_job_s`

Several jobs may use a server at once or one after the other; each has a note, under the address of its chief's session.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Final

TELLS_END: Final = "WEFT_TELLS_END"
"""The environment variable that says whether a program's end is that of its plain sessions' jobs: 0, as without it, or 1."""
TRAINING: Final = "training"
DONE: Final = "done"
FAILED: Final = "failed"
_STATES: Final = (TRAINING, DONE, FAILED)
CHIEF: Final = "chief"
REPLICA: Final = "replica"
MEMBER: Final = "job/"
"""What the names begin with that notes stand under on the board of a task; a replica's name has no slash."""

# For so long a replica may be making a new connection or session.
_MOMENT_S: Final = 5.0
_LONGEST_REASON: Final = 1000


@dataclass(frozen=True)
class JobNote:
    """What a chief, or a replica on its own task, says of its training.

    Attributes:
        chief: who says it, in words.
        process: its process.
        state: TRAINING, DONE or FAILED.
        reason: the error it ended with, where it FAILED.
        role: CHIEF, whose end is the job's, or REPLICA for one that the job can do without.
    """

    chief: str
    process: str
    state: str
    reason: str = ""
    role: str = CHIEF

    def encode(self) -> bytes:
        """The note as bytes."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def decode(note: bytes) -> JobNote | None:
        """The note that bytes stand for; None for others, since any client may write to the board."""
        try:
            found = JobNote(**json.loads(note))
        except (ValueError, TypeError, RecursionError):
            return None
        is_note = all(isinstance(each, str) for each in asdict(found).values()) and found.state in _STATES
        return found if is_note else None


def reason_of(error: BaseException) -> str:
    """What a note says of the error that a job has ended with."""
    return (f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)[:_LONGEST_REASON]


@dataclass(frozen=True)
class JobOver:
    """The end of a job: without an error it is done."""

    error: str = ""


class JobWatch:
    """Follows one server's job. Used by one thread at a time.

    Args:
        task: the server's task.
        process: its process.
        lost_job_s: how long a job that has not ended well is waited for when nobody is here, and replicas that never came.
        others: the other tasks of the cluster. Those of another job, of which some train here, are replicas.
    """

    def __init__(self, task: str, process: str, lost_job_s: float, others: Collection[str] = ()) -> None:
        self._task = task
        self._others = frozenset(each for each in others if _job(each) != _job(task))
        self._come: set[str] = set()
        self._process = process
        self._lost_job_s = lost_job_s
        self._alone_since_s: float | None = None

    def look(
        self, now_s: float, notes: Sequence[JobNote], is_used: bool, masters: Collection[str], is_there: Callable[[str], bool],
        has_state: bool = True,
    ) -> JobOver | None:  # fmt: skip
        """Whether all jobs are over now.

        Args:
            now_s: seconds of any one clock.
            notes: the last note of each job, and of each of its replicas.
            is_used: whether there are sessions here whose masters can be reached.
            masters: the tasks whose masters have, or had, sessions here.
            is_there: whether another task can be reached.
            has_state: whether the server holds any part of the model; without one no replica comes to it.
        """
        self._come.update(masters, filter(is_there, self._others - self._come))
        jobs = [note for note in notes if note.role != REPLICA]
        if not jobs or is_used or any(is_there(task) for task in masters if task != self._task):
            self._alone_since_s = None
            return None
        if self._alone_since_s is None:
            self._alone_since_s = now_s
        # Of a client in another process nothing is known between its sessions.
        may_come_again = self._task in masters and any(note.process != self._process for note in jobs)
        left = [note for note in jobs if note.state != DONE]
        training_jobs = set(map(_job, masters))
        may_come_late = has_state and any(_job(task) in training_jobs for task in self._others - self._come)
        is_patient = may_come_again or may_come_late or any(note.state != DONE for note in notes)
        if now_s - self._alone_since_s < (max(self._lost_job_s, _MOMENT_S) if is_patient else _MOMENT_S):
            return None
        return JobOver("; ".join(map(self._told, left)))

    def _told(self, note: JobNote) -> str:
        what = f"ended with {note.reason}" if note.state == FAILED else "has left without ending it: it died or was cut off"
        return f"the {note.chief} {what}, and nobody has come back for {self._lost_job_s:g} s"


def _job(task: str) -> str:
    """The job of a task, as its name begins."""
    return task.partition("/task:")[0]

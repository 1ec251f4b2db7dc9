"""JobEnd: ends a server that is joined when the training job that it serves has ended."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from typing import Final

from weft.errors import AbortedError, NotFoundError
from weft.ops.data_flow import replica_board
from weft.ops.data_flow.replica_board import ReplicaBoard
from weft.platform.process.process_name import this_process
from weft.platform.process.stop_signals import StopSignals
from weft.platform.waits import wait_notice
from weft.platform.waits.wait_notice import WaitNotice
from weft.protocol.job_watch import MEMBER, JobNote, JobOver, JobWatch
from weft.runtime.worker import Worker

VARIABLE: Final = "WEFT_ENDS_WITH_JOB"
"""The environment variable that says whether a joined server ends with its job, where the program does not: 0 or 1."""
_LOOK_S: Final = 0.5
_LOG: Final = logging.getLogger("weft")


class JobEnd:
    """Ends a server with its job.

    Args:
        worker: the server's; the chiefs' notes are among its resources.
        is_there: whether another task can be reached now.
        lost_job_s: how long a job that has not ended well is waited for, and a replica that has never come.
        others: the other tasks of the cluster.
        look: called now and then until the first session; ends the wait by raising.
    """

    def __init__(
        self, worker: Worker, is_there: Callable[[str], bool], lost_job_s: float, others: Collection[str],
        look: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self._look_around = look
        self._worker = worker
        self._is_there = is_there
        self._watch = JobWatch(worker.task, this_process(), lost_job_s, others)

    def wait(self, stopped: threading.Event, stop: Callable[[], None], signals: StopSignals) -> None:
        """Block until the server is stopped; see `Server.join`.

        Args:
            stopped: set when it is.
            stop: stops it.
            signals: by them the scheduler says that the process will be killed: it serves until those that it serves have
                left, or the grace is over.
        """
        notice: WaitNotice | None = WaitNotice()
        while not stopped.wait(_LOOK_S):
            notice = self._tell(notice)
            if signals.exit_code and (signals.is_overdue or not self._worker.sessions.is_used):
                _LOG.info("Server %s ends: %s", self._worker.task, signals.name)
                stop()
                raise SystemExit(signals.exit_code)
            over = self._look()
            if over is None:
                continue
            task = self._worker.task
            _LOG.info("Server %s ends: its training job %s", task, "has failed" if over.error else "is done")
            stop()
            if over.error:
                raise AbortedError.of(f"Server {task}: its training job is not done: {over.error}")
            # Programs go on behind `join`, which never returned to them, as if they were workers.
            raise SystemExit(signals.exit_code)

    def _tell(self, notice: WaitNotice | None) -> WaitNotice | None:
        """Say that nobody has come yet; returns None once somebody has."""
        if notice is None or self._worker.sessions.is_used or self._worker.sessions.masters:
            return None
        self._look_around()
        if notice.is_due():
            # Clients are started later, or take their time to begin; after a minute something may be wrong with them.
            _LOG.log(
                logging.WARNING if notice.waited_s >= wait_notice.SECOND_S else logging.INFO,
                "Server %s has waited %.0f s in join() for its first session. It serves those that clients open at any "
                "task of its cluster: look whether they run, and whether their ClusterSpec has this task's address.",
                self._worker.task, notice.waited_s,
            )  # fmt: skip
        return notice

    def _look(self) -> JobOver | None:
        sessions = self._worker.sessions
        has_state = any(container != replica_board.CONTAINER for container, _, _ in self._worker.resources.items())
        return self._watch.look(time.monotonic(), self._notes(), sessions.is_used, sessions.masters, self._is_there, has_state)

    def _notes(self) -> list[JobNote]:
        try:
            board = self._worker.resources.find(replica_board.CONTAINER, ReplicaBoard, replica_board.NAME)
        except NotFoundError:
            return []
        notes = map(JobNote.decode, board.notes_under(MEMBER.encode()))
        return [note for note in notes if note is not None]

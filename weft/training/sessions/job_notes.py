"""JobNotes: tells the servers that a training job uses how it goes, so that those which are joined end with it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tensorboard.compat.proto import config_pb2

from weft.client.session import Session
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.in_process.local_servers import LocalServer
from weft.errors import OpError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.devices.device_spec import DeviceSpec
from weft.platform.logs import tf_logging
from weft.protocol.job_watch import MEMBER, REPLICA, TRAINING, JobNote
from weft.training.sessions.board import Board
from weft.training.sessions.model_signature import ModelSignature

# A parameter server without variables, which the job does not need, may not be there, or come late.
_BEGIN_MS: Final = 30_000
_END_MS: Final = 2000


class JobNotes:
    """The notes of one replica. Used under its owner's lock.

    A chief's go to every task that its session has, and to all tasks of the jobs that hold variables. Another replica's go to
    the task of its own master, and, as those of a REPLICA, to the other tasks of its session.

    Args:
        board: the replica's board.
        target: its session's target.
        config: its ConfigProto.
        is_chief: whether it is the chief.
        signature: its model.
    """

    def __init__(
        self, board: Board, target: str, config: config_pb2.ConfigProto | None, is_chief: bool, signature: ModelSignature
    ) -> None:
        self._board = board
        self._target = target
        self._name = note_name(target)
        self._config = config
        self._is_chief = is_chief
        self._jobs = {DeviceSpec.from_string(variable.device).job for variable in signature.values()}
        self._tasks: list[str] = []
        self._others: list[str] = []
        self._own: str | None = None
        self._posting = threading.Lock()
        self._last: JobNote | None = None

    def find_tasks(self, session: Session) -> None:
        """Find out which tasks to tell; may block for a call of the session's server."""
        server = local_servers.find(self._target.removeprefix("grpc://"))
        self._tasks = sorted({_device(device.name) for device in session.list_devices()})
        self._own = None if server is None else _device(server.worker.task)
        if self._is_chief:
            self._others = [] if server is None else sorted(self._of_jobs(server).difference(self._tasks))

    def _of_jobs(self, server: LocalServer) -> set[str]:
        """All tasks of the jobs that hold variables."""
        cluster = ClusterSpec(server.server_def.cluster)
        jobs = self._jobs.intersection(cluster.jobs)
        return {f"/job:{job}/task:{index}" for job in jobs for index in cluster.task_indices(str(job))}

    def post(self, note: JobNote) -> None:
        """Leave the note with every task that can be reached; blocks."""
        self._last = note
        if self._is_chief:
            self._post_here(self._tasks, self._name, note)
        else:
            self._post_here([task for task in self._tasks if task == self._own], self._name, note)
            # A chief may have its session on the same server.
            elsewhere = [task for task in self._tasks if task != self._own]
            self._post_here(elsewhere, f"{self._name}/{REPLICA}", replace(note, role=REPLICA))
        if note.state == TRAINING and self._others:
            threading.Thread(target=self._post_on_others, args=(note, _BEGIN_MS), name="weft-job-notes", daemon=True).start()
        else:
            self._post_on_others(note, _END_MS)

    def _post_here(self, tasks: Sequence[str], name: str, note: JobNote) -> None:
        """Leave a note with tasks of the session."""
        if not tasks:
            return
        try:
            self._board.keep_on(tasks, name, note.encode())
        except OpError:
            # At once: a task that has ended is waited for, and those behind it would not be told before this process ends.
            threads = [
                threading.Thread(target=self._post_on, args=(task, name, note, _END_MS), name="weft-job-notes", daemon=True)
                for task in tasks
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _post_on_others(self, note: JobNote, timeout_ms: int) -> None:
        for task in self._others:
            with self._posting:
                if note is self._last:
                    self._post_on(task, self._name, note, timeout_ms)

    def _post_on(self, task: str, name: str, note: JobNote, timeout_ms: int) -> None:
        board = Board(self._target, config_for(self._config, [task]), [task], timeout_ms)
        try:
            board.keep(name, note.encode())
        except OpError as error:
            tf_logging.debug("%s is not told of the job's beginning or end: %s", task, error.message)
        finally:
            board.close()


def note_name(target: str) -> str:
    """What the note of a target's client stands under."""
    # One that comes back replaces it, whatever its process and model are by then.
    return MEMBER + target.removeprefix("grpc://")


def config_for(config: config_pb2.ConfigProto | None, tasks: Sequence[str]) -> config_pb2.ConfigProto:
    """The ConfigProto of a session that needs these tasks only."""
    own = config_pb2.ConfigProto()
    if config is not None:
        own.CopyFrom(config)
    own.ClearField("device_filters")
    own.device_filters.extend(tasks)
    return own


def _device(name: str) -> str:
    spec = DeviceSpec.from_string(name)
    return f"/job:{spec.job}/task:{spec.task or 0}"

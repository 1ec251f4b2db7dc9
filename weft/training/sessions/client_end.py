"""The end of a program's plain sessions, told to the tasks of their cluster, so that those which are joined end with it.

Whoever trains in a `MonitoredTrainingSession` or by a `Supervisor` leaves such notes already (`job_notes`). The client of an
in-graph model has sessions of its own: of a program that was started by hand nobody knows whether their end is that of a job,
since the next one may look at the same variables. One that a scheduler has started as a task of a job is told so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from tensorboard.compat.proto import config_pb2

from weft.client import used_targets
from weft.distributed.client.server_status import server_status
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.in_process.local_servers import LocalServer
from weft.errors import OpError
from weft.framework.devices.cluster_spec import ClusterSpec
from weft.framework.devices.device_spec import task_name
from weft.platform.logs import tf_logging
from weft.platform.process.process_name import this_process
from weft.protocol.job_watch import DONE, FAILED, TELLS_END, JobNote, reason_of
from weft.training.sessions.board import Board
from weft.training.sessions.job_notes import config_for, note_name

_ASK_S: Final = 0.5
_CALL_MS: Final = 2000


def tell_end(error: BaseException | None, environment: Mapping[str, str] = os.environ) -> None:
    """Leave a note with every task of the clusters that plain sessions of this process were on.

    Blocks for a call of those that are there, and for half a second for each that is silent; one that refuses takes no time.

    Args:
        error: what the program ends with.
        environment: says whether anybody is to be told.
    """
    if environment.get(TELLS_END, "0") == "0":
        return
    state, reason = (DONE, "") if error is None else (FAILED, reason_of(error))
    for target, config in used_targets.untold().items():
        client = f"client {target.removeprefix('grpc://')} (process {this_process()})"
        try:
            _leave(JobNote(client, this_process(), state, reason), target, config)
        except (OpError, RuntimeError) as problem:
            tf_logging.info("The tasks of %s are not told that their client has ended: %s", target, problem)


def _leave(note: JobNote, target: str, config: config_pb2.ConfigProto | None) -> None:
    server = local_servers.find(target.removeprefix("grpc://"))
    tasks = [] if server is None else _answering(server)
    board = Board(target, config_for(config, tasks) if tasks else config, (), _CALL_MS)
    try:
        # Of a cluster that this process is no task of, those that its sessions were on are known.
        board.keep_on(tasks or sorted(set(map(task_name, board.devices()))), note_name(target), note.encode())
    finally:
        board.close()


def _answering(server: LocalServer) -> list[str]:
    """The tasks of a server's cluster that answer, and its own."""
    cluster = ClusterSpec(server.server_def.cluster)
    found = [server.worker.task]
    for job in cluster.jobs:
        for index in cluster.task_indices(job):
            task = f"/job:{job}/replica:0/task:{index}"
            if task not in found and _answers(cluster.task_address(job, index)):
                found.append(task)
    return found


def _answers(address: str) -> bool:
    try:
        server_status(address, _ASK_S)
    except OpError:
        return False
    return True

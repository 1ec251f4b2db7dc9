"""A task forgets the sessions of masters that are gone, and no others."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto import config_pb2

from weft.distributed.worker.session_owners import SessionOwners
from weft.errors import AbortedError
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.worker import Worker

CHIEF, OTHER = "/job:chief/replica:0/task:0", "/job:worker/replica:0/task:1"


@pytest.fixture
def worker() -> Worker:
    made = Worker("/job:ps/replica:0/task:0", [], 1, ResourceManager("ps"))
    for handle in (f"{CHIEF}#1", f"{OTHER}#2"):
        made.sessions.create(handle, config_pb2.ConfigProto(), isolate=False)
    return made


def test_the_sessions_of_a_master_that_was_restarted_are_closed(worker: Worker) -> None:
    incarnations = {CHIEF: 5, OTHER: 6}
    owners = SessionOwners(worker, lambda task: incarnations.get(task, 0), lost_s=600)
    owners.note(f"{CHIEF}#1")
    owners.note(f"{OTHER}#2")
    owners.close_orphans()
    assert f"{CHIEF}#1" in worker.sessions
    incarnations[CHIEF] = 7
    owners.close_orphans()
    assert f"{CHIEF}#1" not in worker.sessions
    assert f"{OTHER}#2" in worker.sessions


def test_the_sessions_of_a_master_out_of_reach_are_closed_but_may_come_back(worker: Worker) -> None:
    owners = SessionOwners(worker, lambda task: 0, lost_s=0)
    owners.note(f"{CHIEF}#1")
    owners.close_orphans()
    assert f"{CHIEF}#1" not in worker.sessions
    worker.sessions.create(f"{CHIEF}#1", config_pb2.ConfigProto(), isolate=False)
    assert f"{CHIEF}#1" in worker.sessions


def test_a_session_that_its_master_has_closed_is_forgotten(worker: Worker) -> None:
    asked: list[str] = []

    def incarnation_of(task: str) -> int:
        asked.append(task)
        return 5

    owners = SessionOwners(worker, incarnation_of, lost_s=0)
    owners.note(f"{CHIEF}#1")
    worker.close_session(f"{CHIEF}#1")
    asked.clear()
    owners.close_orphans()
    assert asked == []
    with pytest.raises(AbortedError, match="is not known"):
        worker.sessions.create(f"{CHIEF}#1", config_pb2.ConfigProto(), isolate=False)

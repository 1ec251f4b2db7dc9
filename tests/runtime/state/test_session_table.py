"""A task's table of sessions: which are open, which never again, and whose masters are out of reach."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto import config_pb2

from weft.errors import AbortedError
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.state.session_table import SessionTable, master_of

CHIEF, OTHER = "/job:chief/replica:0/task:0", "/job:worker/replica:0/task:1"
HANDLE = f"{CHIEF}#0123"


@pytest.fixture
def table() -> SessionTable:
    made = SessionTable("/job:ps/replica:0/task:0", 7, ResourceManager("ps"), None, None)
    for handle in (HANDLE, f"{OTHER}#2"):
        made.create(handle, config_pb2.ConfigProto(), isolate=False)
    return made


def test_a_handle_names_its_master() -> None:
    assert master_of(HANDLE) == CHIEF


def test_a_session_is_created_once(table: SessionTable) -> None:
    state = table.find(HANDLE)
    table.create(HANDLE, config_pb2.ConfigProto(), isolate=True)
    assert table.find(HANDLE) is state


def test_a_session_that_was_dropped_is_closed_and_may_be_created_again(table: SessionTable) -> None:
    state = table.find(HANDLE)
    assert table.drop(HANDLE) is state
    assert state.is_closed
    assert table.drop(HANDLE) is None
    with pytest.raises(AbortedError, match=r"'/job:chief/.*#0123' is not known to /job:ps/.* \(incarnation 7\)"):
        table.find(HANDLE)
    table.create(HANDLE, config_pb2.ConfigProto(), isolate=False)
    assert HANDLE in table
    assert table.find(HANDLE) is not state


def test_a_session_that_was_forbidden_is_never_created(table: SessionTable) -> None:
    table.forbid("late")
    with pytest.raises(AbortedError, match="Session handle 'late' is not known"):
        table.create("late", config_pb2.ConfigProto(), isolate=False)
    assert "late" not in table


def test_only_the_sessions_of_a_lost_master_are_away_until_the_same_run_of_it_comes_back(table: SessionTable) -> None:
    mine, other = table.find(HANDLE), table.find(f"{OTHER}#2")
    table.master_left(CHIEF, 5)
    assert (mine.is_away, other.is_away) == (True, False)
    table.master_came(CHIEF, 6)
    assert mine.is_away
    table.master_came(CHIEF, 5)
    assert not mine.is_away

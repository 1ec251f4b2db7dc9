"""Tensors that come early are kept, within bounds; tensors that come late are dropped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from weft.errors import AbortedError, CancelledError, OpError, ResourceExhaustedError
from weft.protocol.limits import ServerLimits
from weft.protocol.messages import Push
from weft.protocol.rendezvous_table import Deliver, End, GiveUp, RendezvousTable, StepState

TASK = "/job:a/replica:0/task:0"
REASON = CancelledError(None, None, "the chief cancelled it")


@pytest.fixture
def table() -> Iterator[RendezvousTable[str]]:
    table: RendezvousTable[str] = RendezvousTable(
        TASK, ServerLimits(max_early_bytes=1000, early_s=100), max_early_steps=3, max_remembered_steps=4
    )
    yield table
    entries = table._entries
    assert all((entry.step is not None) == (entry.state is StepState.RUNNING) for entry in entries.values())
    assert all(bool(entry.pushes) == (entry.state is StepState.EARLY) for entry in entries.values())
    assert {entry.step_id for entry in entries.values() if entry.state is StepState.EARLY} == set(table._early)
    assert {entry.step_id for entry in entries.values() if entry.state is StepState.OVER} == set(table._over)
    assert kept_bytes(table) == sum(t.nbytes for e in entries.values() for p in e.pushes or () for t in p.tensors)
    assert kept_bytes(table) <= 1000
    assert len(table._early) <= 3
    assert len(table._over) <= 4


def kept_bytes(table: RendezvousTable[str]) -> int:
    return table._early_bytes


def push(step_id: int, size: int = 8, edge: int = 0) -> Push:
    return Push(step_id, (edge,), (np.zeros(size, np.uint8),))


def refusal(table: RendezvousTable[str], step_id: int, kind: type[OpError] = AbortedError) -> OpError:
    """The error that a step ends with which is started now."""
    (end,) = table.start(step_id, "late")
    assert isinstance(end, End)
    assert end.step == "late"
    assert type(end.error) is kind
    assert end.error.message.startswith(f"{TASK}: ")
    return end.error


def test_early_pushes_are_delivered_in_order_when_the_step_starts(table: RendezvousTable[str]) -> None:
    first, second = push(1), push(1, edge=1)
    assert not table.push(first, 0)
    assert not table.push(second, 0)
    assert kept_bytes(table) == 16
    assert table.start(1, "one") == [Deliver("one", first), Deliver("one", second)]
    assert kept_bytes(table) == 0


def test_pushes_of_a_running_step_go_straight_to_it(table: RendezvousTable[str]) -> None:
    assert not table.start(1, "one")
    late = push(1)
    assert list(table.push(late, 0)) == [Deliver("one", late)]
    assert table.running == ["one"]
    assert table.find(1) == "one"
    assert table.find(2) is None


def test_pushes_of_a_step_that_is_over_are_dropped(table: RendezvousTable[str]) -> None:
    table.start(1, "one")
    table.note_end(1, "one")
    assert not table.push(push(1), 0)
    table.push(push(2), 0)
    assert not table.abort(2, REASON)
    assert not table.push(push(2), 0)
    assert kept_bytes(table) == 0


def test_an_aborted_step_does_not_start(table: RendezvousTable[str]) -> None:
    table.abort(1, REASON)
    table.abort(1, CancelledError(None, None, "second reason"))
    assert REASON.message in refusal(table, 1).message


def test_an_abort_ends_the_step_that_runs(table: RendezvousTable[str]) -> None:
    table.start(1, "one")
    assert list(table.abort(1, REASON)) == [End("one", REASON)]
    assert not table.abort(1, REASON)
    table.note_end(1, "one")
    assert REASON.message in refusal(table, 1).message


def test_a_step_starts_once(table: RendezvousTable[str]) -> None:
    table.start(1, "one")
    assert "runs already" in refusal(table, 1).message
    table.note_end(1, "late")
    assert table.running == ["one"]


def test_a_step_that_is_done_does_not_start_again(table: RendezvousTable[str]) -> None:
    table.start(1, "one")
    table.note_end(1, "one")
    assert "done already" in refusal(table, 1).message


def test_too_many_early_steps_are_an_error_of_the_newest(table: RendezvousTable[str]) -> None:
    for step_id in (1, 2, 3):
        assert not table.push(push(step_id), 0)
    (given_up,) = table.push(push(4), 0)
    assert isinstance(given_up, GiveUp)
    assert "3 steps that have not started" in given_up.reason
    assert given_up.reason in refusal(table, 4, ResourceExhaustedError).message
    assert not table.push(push(3), 0)


def test_too_many_early_bytes_are_an_error_and_release_the_steps_tensors(table: RendezvousTable[str]) -> None:
    table.push(push(1, 600), 0)
    (given_up,) = table.push(push(1, 600), 0)
    assert isinstance(given_up, GiveUp)
    assert "started here: 1200, and the limit is 1000. It is max_early_bytes" in given_up.reason
    assert kept_bytes(table) == 0
    assert given_up.reason in refusal(table, 1, ResourceExhaustedError).message


def test_steps_that_never_start_expire(table: RendezvousTable[str]) -> None:
    table.push(push(1), now_s=10)
    table.push(push(2), now_s=20)
    table.push(push(1), now_s=30)
    (given_up,) = table.push(push(3), now_s=115)
    assert isinstance(given_up, GiveUp)
    assert (given_up.step_id, "not started within 100 s" in given_up.reason) == (1, True)
    assert not table.push(push(1), 31)
    assert len(table.start(2, "two")) == 1


def test_what_has_expired_is_given_up_without_another_push(table: RendezvousTable[str]) -> None:
    table.push(push(1, 600), now_s=10)
    assert table.expire(110) == []
    (given_up,) = table.expire(110.1)
    assert isinstance(given_up, GiveUp)
    assert kept_bytes(table) == 0
    assert "not started within 100 s" in refusal(table, 1).message


def test_only_the_latest_ended_steps_are_remembered(table: RendezvousTable[str]) -> None:
    for step_id in range(10):
        table.start(step_id, "step")
        table.note_end(step_id, "step")
    table.push(push(9), 0)
    assert kept_bytes(table) == 0
    table.push(push(0), 0)
    assert kept_bytes(table) == 8


def test_of_a_step_that_was_aborted_the_first_line_of_the_reason_is_remembered(table: RendezvousTable[str]) -> None:
    table.start(7, "step")
    table.abort(7, AbortedError.of("Timed out waiting\n  where the node was built, " + "line by line " * 1000))
    (end,) = table.start(7, "again")
    assert isinstance(end, End)
    assert end.error.message.endswith(": Timed out waiting")


def test_a_step_that_is_done_is_not_run_again(table: RendezvousTable[str]) -> None:
    table.start(7, "step")
    table.note_end(7, "step")
    (end,) = table.start(7, "again")
    assert isinstance(end, End)
    assert "step 7 is done already" in end.error.message

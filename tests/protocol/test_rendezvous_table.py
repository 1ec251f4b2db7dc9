"""Tensors that come early are kept, within bounds; tensors that come late are dropped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from weft.protocol.messages import Push
from weft.protocol.rendezvous_table import Deliver, Drop, Fail, RendezvousTable


@pytest.fixture
def table() -> Iterator[RendezvousTable]:
    table = RendezvousTable(max_early_steps=3, max_early_bytes=1000, max_remembered_steps=4)
    yield table
    for step_id in list(table._early):
        assert step_id not in table._running
        assert step_id not in table._over
    assert table.early_bytes == sum(t.nbytes for e in table._early.values() for p in e.pushes for t in p.tensors)
    assert table.early_bytes <= 1000
    assert len(table._early) <= 3
    assert len(table._over) <= 4


def push(step_id: int, size: int = 8, edge: int = 0) -> Push:
    return Push(step_id, (edge,), (np.zeros(size, np.uint8),))


def test_early_pushes_are_delivered_in_order_when_the_step_starts(table: RendezvousTable) -> None:
    first, second = push(1), push(1, edge=1)
    assert table.push(first, 0) == []
    assert table.push(second, 0) == []
    assert table.early_bytes == 16
    assert table.start(1) == [Deliver(first), Deliver(second)]
    assert table.early_bytes == 0


def test_pushes_of_a_running_step_go_straight_to_it(table: RendezvousTable) -> None:
    assert table.start(1) == []
    late = push(1)
    assert table.push(late, 0) == [Deliver(late)]
    assert table.running == {1}


def test_pushes_of_a_step_that_is_over_are_dropped(table: RendezvousTable) -> None:
    table.start(1)
    table.finish(1)
    assert table.push(push(1), 0) == [Drop(1)]
    table.push(push(2), 0)
    assert not table.abort(2, "cancelled")
    assert table.push(push(2), 0) == [Drop(2)]
    assert table.early_bytes == 0


def test_an_aborted_step_does_not_start(table: RendezvousTable) -> None:
    table.abort(1, "the chief cancelled it")
    table.abort(1, "second reason")
    assert table.start(1) == [Fail(1, "the chief cancelled it")]


def test_abort_says_whether_the_step_ran(table: RendezvousTable) -> None:
    table.start(1)
    assert table.abort(1, "x")
    assert not table.abort(1, "x")


def test_a_step_starts_once(table: RendezvousTable) -> None:
    table.start(1)
    (fail,) = table.start(1)
    assert isinstance(fail, Fail)
    assert "runs already" in fail.reason
    assert table.running == {1}


def test_too_many_early_steps_are_an_error_of_the_newest(table: RendezvousTable) -> None:
    for step_id in (1, 2, 3):
        assert table.push(push(step_id), 0) == []
    (fail,) = table.push(push(4), 0)
    assert isinstance(fail, Fail)
    assert "3 steps that have not started" in fail.reason
    assert table.start(4) == [fail]
    assert table.push(push(3), 0) == []


def test_too_many_early_bytes_are_an_error_and_release_the_steps_tensors(table: RendezvousTable) -> None:
    table.push(push(1, 600), 0)
    (fail,) = table.push(push(1, 600), 0)
    assert isinstance(fail, Fail)
    assert "limit of 1000" in fail.reason
    assert table.early_bytes == 0


def test_steps_that_never_start_expire(table: RendezvousTable) -> None:
    table.push(push(1), now_s=10)
    table.push(push(2), now_s=20)
    table.push(push(1), now_s=30)
    assert table.expire(before_s=15) == [Drop(1)]
    assert table.push(push(1), 31) == [Drop(1)]
    assert len(table.start(2)) == 1


def test_only_the_latest_ended_steps_are_remembered(table: RendezvousTable) -> None:
    for step_id in range(10):
        table.start(step_id)
        table.finish(step_id)
    assert table.push(push(9), 0) == [Drop(9)]
    assert table.push(push(0), 0) == []

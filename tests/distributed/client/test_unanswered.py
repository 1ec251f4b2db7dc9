"""What is told of a TensorFlow server that has not answered: whether it lives, and for whom it may wait."""

from __future__ import annotations

import pytest

import weft as tf
from tests.told_waits import ToldWaits, tell_soon
from weft.distributed.client.unanswered import OF_OPENING, Unanswered
from weft.framework.nodes.operation import Operation
from weft.protocol.heartbeat import Evidence


def unanswered(evidence: Evidence) -> Unanswered:
    return Unanswered("The server", lambda timeout_s: evidence)


def on(*devices: str) -> list[Operation]:
    found = []
    for device in devices:
        with tf.device(device):
            found.append(tf.no_op())
    return found


def test_a_process_that_greets_nobody_stands_still() -> None:
    assert "stands still" in unanswered(Evidence.UNREACHED).why(on("/job:ps/task:0"))


@pytest.mark.parametrize("evidence", [Evidence.PASSED_BY, Evidence.BUSY])
def test_one_that_lives_may_wait_for_the_tasks_of_its_nodes(evidence: Evidence) -> None:
    told = unanswered(evidence).why(on("/job:worker/task:1", "/job:ps/task:0/device:CPU:0", "/job:ps", "", "/device:CPU:0"))
    assert "lives" in told
    assert told.endswith("the step has nodes on /job:ps/task:0, /job:worker/task:1.")


def test_nodes_without_a_task_name_none() -> None:
    assert "task" not in unanswered(Evidence.PASSED_BY).why(on("", "/device:CPU:0"))


def test_of_many_tasks_the_first_are_named() -> None:
    assert "and 4 more" in unanswered(Evidence.PASSED_BY).why(on(*(f"/job:ps/task:{task}" for task in range(12))))


@pytest.mark.parametrize(
    ("evidence", "expected"), [(Evidence.PASSED_BY, OF_OPENING), (Evidence.UNREACHED, "It does not answer at all")]
)
def test_a_wait_for_the_opening_tells_what_to_look_at(
    monkeypatch: pytest.MonkeyPatch, evidence: Evidence, expected: str
) -> None:
    tell_soon(monkeypatch)
    told = ToldWaits()
    with told.listening(), unanswered(evidence).watched(lambda: "opening a session", None):
        assert told.came.wait(10)
    assert told.texts[0].startswith("The server has been opening a session for 0 s. ")
    assert expected in told.texts[0]

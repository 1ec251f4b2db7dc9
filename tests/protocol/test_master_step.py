"""A step ends when all its parts do, or with the first failure; an event that cannot come is refused with the step's story."""

from __future__ import annotations

import pytest

from weft.errors import AbortedError, CancelledError, DeadlineExceededError, UnavailableError
from weft.protocol.master_step import (
    AbortPart,
    AskPart,
    Cancelled,
    DeadlinePassed,
    Event,
    Instruction,
    LetGo,
    MasterStep,
    PartDone,
    PartFailed,
    Started,
    StepState,
    WorkerLost,
)
from weft.protocol.outcome_table import UNKNOWN_FATE
from weft.protocol.protocol_error import LocalProtocolError

LOST = UnavailableError(None, None, f"lost; {UNKNOWN_FATE}")
LATER = AbortedError(None, None, "later")
ENOUGH = CancelledError(None, None, "enough")


def running(*tasks: str) -> MasterStep:
    step = MasterStep(7, tasks)
    assert list(step.handle(Started())) == [AskPart(task) for task in tasks]
    return step


def handle(step: MasterStep, event: Event) -> list[Instruction]:
    return list(step.handle(event))


def test_a_step_is_done_when_every_part_is() -> None:
    step = running("b", "a")
    assert step.waiting_for == ["a", "b"]
    assert handle(step, PartDone("a", [1])) == []
    assert step.state is StepState.RUNNING
    assert step.waiting_for == ["b"]
    assert handle(step, PartDone("b", [2], "times")) == [LetGo()]
    assert step.state is StepState.DONE
    assert step.fetches == {"a": [1], "b": [2]}
    assert step.stats == {"a": None, "b": "times"}
    assert step.error is None


def test_a_step_without_parts_is_done_at_once() -> None:
    step = MasterStep(7, [])
    assert handle(step, Started()) == [LetGo()]
    assert step.state is StepState.DONE


@pytest.mark.parametrize("failure", [PartFailed("b", LOST), WorkerLost("b", LOST)])
def test_the_first_failure_is_the_steps_and_ends_the_other_parts(failure: Event) -> None:
    step = running("a", "b", "c", "d")
    handle(step, PartDone("a", []))
    assert handle(step, failure) == [AbortPart("c", LOST), AbortPart("d", LOST), LetGo()]
    assert handle(step, PartFailed("c", LATER)) == []
    assert handle(step, PartDone("d", [1])) == []
    assert (step.state, step.error) == (StepState.FAILED, LOST)


def test_a_part_that_could_not_run_leaves_the_fate_of_the_others_unknown() -> None:
    refusal = AbortedError(None, None, "no such graph")
    alone, beside, wrong = running("a"), running("a", "b"), running("a", "b")
    handle(alone, PartFailed("a", refusal))
    handle(beside, PartFailed("a", refusal))
    handle(wrong, PartFailed("a", ENOUGH))
    assert alone.error is refusal
    assert isinstance(beside.error, AbortedError)
    assert beside.error.message.startswith("no such graph. ")
    assert UNKNOWN_FATE in beside.error.message
    assert wrong.error is ENOUGH


def test_a_caller_may_give_a_step_up() -> None:
    step = running("a", "b")
    assert handle(step, Cancelled(ENOUGH)) == [AbortPart("a", ENOUGH), AbortPart("b", ENOUGH), LetGo()]
    assert handle(step, Cancelled(LATER)) == []
    assert step.error is ENOUGH


def test_a_step_that_was_given_up_before_it_began_asks_nobody() -> None:
    step = MasterStep(7, ["a"])
    assert handle(step, Cancelled(ENOUGH)) == []
    assert handle(step, Started()) == [LetGo()]
    assert (step.state, step.error) == (StepState.FAILED, ENOUGH)


def test_a_deadline_ends_a_step_and_says_where_it_waits() -> None:
    step = running("a")
    abort, let_go = handle(step, DeadlinePassed("a, blocked at deq"))
    assert isinstance(abort, AbortPart)
    assert isinstance(abort.error, DeadlineExceededError)
    assert abort.error.message == "Timed out waiting for notification: step 7 on a, blocked at deq"
    assert let_go == LetGo()


@pytest.mark.parametrize("event", [Cancelled(LATER), DeadlinePassed("a")])
def test_an_end_from_without_comes_too_late_for_a_step_that_is_over(event: Event) -> None:
    done, failed = running("a"), running("a")
    handle(done, PartDone("a", [1]))
    handle(failed, PartFailed("a", LOST))
    assert handle(done, event) == handle(failed, event) == []
    assert (done.state, done.fetches, done.error) == (StepState.DONE, {"a": [1]}, None)
    assert (failed.state, failed.error) == (StepState.FAILED, LOST)


@pytest.mark.parametrize("event", [PartDone("a", [2]), PartFailed("a", LATER), WorkerLost("a", LATER)])
@pytest.mark.parametrize("tasks", [["a"], ["a", "b"]])
def test_a_part_ends_once(tasks: list[str], event: Event) -> None:
    step = running(*tasks)
    handle(step, PartDone("a", [1]))
    with pytest.raises(LocalProtocolError, match=r"^Step 7 is (done|running) and got .*\(a.* after Started\(\), PartDone\(a\)"):
        step.handle(event)
    assert step.fetches == {"a": [1]}
    assert step.error is None


def test_an_event_before_the_start_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match=rf"^Step 7 is planned and got WorkerLost\(a: {LOST.message}\) after nothing$"):
        MasterStep(7, ["a"]).handle(WorkerLost("a", LOST))


def test_a_step_starts_once() -> None:
    with pytest.raises(LocalProtocolError, match="Step 7 is running and got Started"):
        running("a").handle(Started())

"""A step ends when all its parts do, or with the first failure; what comes later is ignored."""

from __future__ import annotations

from weft.errors import AbortedError, CancelledError, UnavailableError
from weft.protocol.master_step import AbortParts, MasterStep, StepState

LOST = UnavailableError(None, None, "lost")
LATER = AbortedError(None, None, "later")


def test_a_step_is_done_when_every_part_is() -> None:
    step = MasterStep(7, ["b", "a"])
    assert step.waiting_for == ["a", "b"]
    step.part_done("a", [1])
    assert step.state is StepState.RUNNING
    assert step.waiting_for == ["b"]
    step.part_done("b", [2])
    assert step.state is StepState.DONE
    assert step.fetches == {"a": [1], "b": [2]}
    assert step.error is None


def test_a_step_without_parts_is_done_at_once() -> None:
    assert MasterStep(7, []).state is StepState.DONE


def test_the_first_failure_is_the_steps_and_ends_the_other_parts() -> None:
    step = MasterStep(7, ["a", "b", "c"])
    step.part_done("a", [])
    assert step.part_failed("b", LOST) == AbortParts(("c",), LOST)
    assert step.part_failed("c", LATER) is None
    assert (step.state, step.error) == (StepState.FAILED, LOST)


def test_a_caller_may_give_a_step_up() -> None:
    step = MasterStep(7, ["a", "b"])
    reason = CancelledError(None, None, "enough")
    assert step.cancel(reason) == AbortParts(("a", "b"), reason)
    assert step.cancel(LOST) is None
    assert step.error is reason


def test_what_comes_after_the_end_is_ignored() -> None:
    step = MasterStep(7, ["a"])
    step.part_done("a", [1])
    step.part_done("a", [2])
    assert step.part_failed("a", LOST) is None
    assert step.cancel(LOST) is None
    assert (step.state, step.fetches, step.error) == (StepState.DONE, {"a": [1]}, None)


def test_a_part_counts_once() -> None:
    step = MasterStep(7, ["a", "b"])
    step.part_done("a", [1])
    step.part_done("a", [2])
    assert step.part_failed("a", LOST) is None
    assert (step.state, step.fetches) == (StepState.RUNNING, {"a": [1]})

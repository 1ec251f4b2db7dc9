"""The steps of a session have numbers of their own, and one end for all."""

from __future__ import annotations

import pytest

from weft.distributed.master.steps.live_steps import LiveSteps
from weft.distributed.master.steps.step_run import StepRun
from weft.errors import CancelledError, UnavailableError
from weft.protocol.outcome_table import LANES

DRAINED = UnavailableError(None, None, "drained")
CLOSED = CancelledError(None, None, "closed")


class _Given(StepRun):
    """A step that remembers how it was given up."""

    def __init__(self, steps: LiveSteps) -> None:
        super().__init__(steps.next_id(), ["a"], steps)
        self.reasons: list[str] = []

    def cancel(self, error: Exception) -> None:
        self.reasons.append(str(error))


def test_a_number_is_used_again_one_round_on_when_its_step_is_over() -> None:
    steps = LiveSteps()
    first, second = steps.next_id(), steps.next_id()
    assert second - first not in (0, LANES)
    over = StepRun(first, ["a"], steps)
    over.discard()
    assert steps.next_id() == first + LANES


def test_the_end_of_all_steps_comes_once_and_for_those_that_start_later_too() -> None:
    steps = LiveSteps()
    running = _Given(steps)
    steps.note_start(running)
    assert len(steps) == 1
    steps.drain(DRAINED)
    assert running.reasons == []
    with pytest.raises(UnavailableError, match="drained"):
        steps.raise_if_ended()
    assert steps.cancel_all(CLOSED)
    assert not steps.cancel_all(DRAINED)
    late = _Given(steps)
    steps.note_start(late)
    assert running.reasons == late.reasons == ["closed"]
    steps.note_end(running)
    steps.note_end(late)
    assert len(steps) == 0

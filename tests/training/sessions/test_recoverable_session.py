"""A step that was lost is run again in a new session, and with a warning if it may have been applied."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import weft as tf
from weft.errors import OpError, UnavailableError
from weft.protocol.outcome_table import UNKNOWN_FATE
from weft.training.sessions.recoverable_session import RecoverableSession
from weft.training.sessions.recovery import RetryBudget


class Sessions:
    """Makes sessions whose steps fail with these errors, one after the other, and then succeed."""

    def __init__(self, *errors: OpError) -> None:
        self.errors = list(errors)
        self.made = 0

    def create_session(self) -> Any:
        self.made += 1
        return self

    def should_stop(self) -> bool:
        return False

    def run(self, *_: object) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "done"

    def close(self, at_once: bool = False) -> None:
        """Nothing is open."""

    def expect_another(self) -> None:
        """Nobody is told."""


@pytest.mark.parametrize(("text", "warnings"), [("it was not asked", 0), (f"it died; {UNKNOWN_FATE}", 1)])
def test_a_step_that_may_have_been_applied_is_repeated_with_a_warning(
    text: str, warnings: int, caplog: pytest.LogCaptureFixture
) -> None:
    sessions = Sessions(UnavailableError.of(text))
    session = RecoverableSession(sessions, RetryBudget(sleep=lambda _: None))  # type: ignore[arg-type]
    with caplog.at_level(logging.WARNING):
        assert session.run("train") == "done"
    assert sessions.made == 2
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert [UNKNOWN_FATE in each for each in told] == [True] * warnings


def test_a_policy_may_have_the_program_told_of_a_step_that_may_have_been_applied() -> None:
    sessions = Sessions(UnavailableError.of("it was not asked"), UnavailableError.of(f"it died; {UNKNOWN_FATE}"))
    policy = tf.train.RetryPolicy(repeats_unknown_steps=False)
    session = RecoverableSession(sessions, RetryBudget(policy, sleep=lambda _: None))  # type: ignore[arg-type]
    with pytest.raises(UnavailableError, match=UNKNOWN_FATE):
        session.run("train")
    assert not session.should_stop()
    assert session.run("train") == "done", "the next run finds a new session"
    assert sessions.made == 3


def test_a_policy_says_when_to_give_up() -> None:
    waits: list[float] = []
    sessions = Sessions(*[UnavailableError.of("gone")] * 10)
    policy = tf.train.RetryPolicy(attempts=3, first_wait_s=0.5, longest_wait_s=0.75)
    session = RecoverableSession(sessions, RetryBudget(policy, sleep=waits.append))  # type: ignore[arg-type]
    with pytest.raises(UnavailableError, match="Gave up after 3 attempts"):
        session.run("train")
    assert waits == [0.5, 0.75]


def test_a_training_session_takes_a_policy() -> None:
    class Loses(tf.train.SessionRunHook):
        def before_run(self, run_context: Any) -> None:
            raise UnavailableError.of("the hook lost it")

    with tf.Graph().as_default():
        step = tf.no_op()
        tf.train.get_or_create_global_step()
        policy = tf.train.RetryPolicy(attempts=2, first_wait_s=0.0)
        with (
            tf.train.MonitoredTrainingSession(hooks=[Loses()], retry_policy=policy) as session,
            pytest.raises(UnavailableError, match="Gave up after 2 attempts"),
        ):
            session.run(step)


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first_wait_s": -1.0}, {"longest_wait_s": -0.1}])
def test_a_policy_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="RetryPolicy"):
        tf.train.RetryPolicy(**wrong)

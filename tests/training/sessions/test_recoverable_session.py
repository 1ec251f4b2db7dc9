"""A step that was lost is run again in a new session, and with a warning if it may have been applied."""

from __future__ import annotations

import logging
from typing import Any

import pytest

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

    def run(self, *_: object) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "done"

    def close(self, at_once: bool = False) -> None:
        """Nothing is open."""


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

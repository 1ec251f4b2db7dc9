"""A server's limits have defaults, can be set by a text, and are named by the errors of what exceeds them."""

from __future__ import annotations

import dataclasses

import pytest

from weft.errors import InvalidArgumentError
from weft.protocol.limits import ServerLimits, exceeded


def test_a_text_sets_what_it_names() -> None:
    assert ServerLimits.from_text("") == ServerLimits()
    limits = ServerLimits.from_text(" max_sessions = 3, early_s=0.5 ,")
    assert limits == dataclasses.replace(ServerLimits(), max_sessions=3, early_s=0.5)


@pytest.mark.parametrize("text", ["max_session=3", "max_sessions", "max_sessions=many", "max_sessions=1.5", "=1"])
def test_a_text_that_names_no_limit_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"WEFT_LIMITS: .* is not NAME=NUMBER with a name of max_sessions, "):
        ServerLimits.from_text(text)


def test_the_error_names_what_was_found_the_limit_and_the_setting() -> None:
    assert exceeded("too many of them", 7, "max_sessions", 5).message == (
        "too many of them: 7, and the limit is 5. It is max_sessions of the server's limits: "
        "tf.train.Server(..., limits=tf.train.ServerLimits(max_sessions=N)), or WEFT_LIMITS=max_sessions=N in its environment"
    )

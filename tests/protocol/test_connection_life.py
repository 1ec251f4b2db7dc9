"""A connection ends once, by its first cause, whatever comes afterwards."""

from __future__ import annotations

import itertools

import pytest

from weft.protocol.connection_life import ConnectionLife, LifeState, LifeStep
from weft.protocol.protocol_error import LocalProtocolError

CAUSE = ConnectionError("the first")


def test_a_loss_shuts_down_once_and_its_first_cause_counts() -> None:
    life = ConnectionLife()
    assert life.lose(CAUSE) == (LifeStep.SHUT_DOWN,)
    assert life.lose(ValueError("later")) == ()
    assert life.close() == ()
    assert (life.state, life.cause) == (LifeState.LOST, CAUSE)
    assert life.release() == (LifeStep.TELL_OWNER,)
    assert (life.state, life.cause) == (LifeState.CLOSED, CAUSE)


def test_a_close_says_goodbye_once_and_its_loss_is_nobodys_failure() -> None:
    life = ConnectionLife()
    assert life.close() == (LifeStep.SAY_GOODBYE,)
    assert life.close() == ()
    assert life.lose(CAUSE) == (LifeStep.SHUT_DOWN,)
    assert life.cause is None


def test_a_goodbye_of_the_peer_is_no_failure_either() -> None:
    life = ConnectionLife()
    assert life.lose(None) == (LifeStep.SHUT_DOWN,)
    assert life.lose(CAUSE) == ()
    assert life.cause is None


def test_what_still_passes_messages_cannot_be_released() -> None:
    life = ConnectionLife()
    with pytest.raises(LocalProtocolError, match="in state OPEN cannot RELEASE"):
        life.release()


def test_a_release_comes_once() -> None:
    life = ConnectionLife()
    life.lose(CAUSE)
    life.release()
    with pytest.raises(LocalProtocolError, match="in state CLOSED cannot RELEASE; its cause: the first"):
        life.release()


@pytest.mark.parametrize("events", list(itertools.product(["close", "lose"], repeat=4)))
def test_every_story_shuts_down_at_most_once_and_says_goodbye_only_before_that(events: tuple[str, ...]) -> None:
    life = ConnectionLife()
    steps = [step for event in events for step in (life.close() if event == "close" else life.lose(CAUSE))]
    assert steps in ([LifeStep.SAY_GOODBYE], [LifeStep.SHUT_DOWN], [LifeStep.SAY_GOODBYE, LifeStep.SHUT_DOWN])

"""Heartbeats: silence makes suspect, evidence alone gives a peer up, and nobody is blamed for this process's own pauses."""

from __future__ import annotations

import pytest

from weft.protocol.heartbeat import LONGEST_INTERVAL_S, PATIENCE, BeatStep, Evidence, Heartbeat

TELL, ASK, INQUIRE = BeatStep.TELL, BeatStep.ASK, BeatStep.INQUIRE
PROOFS = [Evidence.STOPPED, Evidence.CUT, Evidence.UNREACHED, Evidence.PASSED_BY]


class Beats:
    """A connection whose beats come on time, by a clock of its own."""

    def __init__(self, timeout_s: float | None = 2.0, tolerates_stop: bool = False) -> None:
        self.rules = Heartbeat(timeout_s, 0.0, tolerates_stop)
        self.now_s = 0.0
        self.count = 0
        self.next()

    def next(self, received: int = 0) -> tuple[BeatStep, ...]:
        self.now_s += self.rules.interval_s
        self.count += received
        return self.rules.beat(self.now_s, self.count)

    def until_suspect(self) -> None:
        for _ in range(1000):
            if INQUIRE in self.next():
                return
        raise AssertionError("never")

    def lost_after(self, evidence: Evidence) -> float | None:
        """When the peer is given up that has been silent from the last beat on, with this evidence at each look."""
        began_s = self.now_s
        while self.now_s - began_s < 1000:
            if INQUIRE in self.next() and self.rules.found(evidence, self.now_s):
                return self.now_s - began_s
        return None


def test_a_peer_that_is_heard_is_told_and_never_asked_about() -> None:
    beats = Beats()
    assert [beats.next(received=1) for _ in range(100)] == [(TELL,)] * 100


def test_a_peer_that_is_silent_is_asked_first() -> None:
    beats = Beats()
    assert beats.next() == (ASK,)


@pytest.mark.parametrize("evidence", PROOFS)
def test_a_peer_is_given_up_within_the_timeout_where_there_is_proof(evidence: Evidence) -> None:
    after_s = Beats().lost_after(evidence)
    assert after_s is not None
    # What was heard came up to an interval before the beat that noticed it.
    assert 1.0 < after_s <= 2.0 - LONGEST_INTERVAL_S


@pytest.mark.parametrize("timeout_s", [0.5, 2.0, 60.0])
def test_the_timeout_is_what_it_is_set_to(timeout_s: float) -> None:
    beats = Beats(timeout_s)
    after_s = beats.lost_after(Evidence.STOPPED)
    assert after_s is not None
    assert timeout_s / 2 < after_s <= timeout_s - beats.rules.interval_s + 1e-9


@pytest.mark.parametrize("evidence", [Evidence.BUSY, Evidence.UNKNOWN])
def test_a_peer_that_may_live_is_waited_for_much_longer_but_not_for_ever(evidence: Evidence) -> None:
    after_s = Beats().lost_after(evidence)
    assert after_s is not None
    assert 2.0 * PATIENCE <= after_s < 2.0 * PATIENCE + 2.0


def test_a_process_that_runs_and_answers_elsewhere_is_given_up_at_the_second_look() -> None:
    after_s = Beats().lost_after(Evidence.ANSWERING)
    assert after_s is not None
    assert 1.6 < after_s <= 3.0


def test_who_answers_elsewhere_and_is_heard_before_the_second_look_lives() -> None:
    beats = Beats()
    for _ in range(5):
        beats.until_suspect()
        assert not beats.rules.found(Evidence.ANSWERING, beats.now_s)
        assert beats.next(received=1) == (TELL,)


def test_a_short_stop_is_forgiven() -> None:
    beats = Beats()
    beats.until_suspect()
    assert not beats.rules.found(Evidence.STOPPED, beats.now_s)
    assert beats.next(received=1) == (TELL,)
    assert beats.next() == (ASK,)


def test_bytes_that_wait_to_be_read_are_life() -> None:
    assert Beats().lost_after(Evidence.HEARD) is None


def test_a_client_may_be_stopped_for_a_while() -> None:
    after_s = Beats(tolerates_stop=True).lost_after(Evidence.STOPPED)
    assert after_s is not None
    assert after_s >= 2.0 * PATIENCE


def test_a_pause_of_this_process_is_not_held_against_the_peer() -> None:
    beats = Beats()
    beats.now_s += 100.0
    assert beats.next() == (ASK,)
    assert beats.rules.silent_s(beats.now_s) <= 2 * LONGEST_INTERVAL_S
    beats.until_suspect()


def test_nothing_is_asked_twice_at_a_time() -> None:
    beats = Beats()
    beats.until_suspect()
    assert [beats.next() for _ in range(10)] == [(ASK,)] * 10
    assert not beats.rules.found(Evidence.BUSY, beats.now_s)
    beats.until_suspect()


def test_without_a_timeout_nobody_is_given_up_and_everybody_told() -> None:
    beats = Beats(None)
    assert beats.rules.interval_s == LONGEST_INTERVAL_S
    assert {beats.next() for _ in range(1000)} == {(ASK,)}
    assert beats.next(received=1) == (TELL,)

"""One thread reads a connection at a time; its owner stays back for waiters, and everybody learns of the end."""

from __future__ import annotations

import random

import pytest

from weft.protocol.protocol_error import LocalProtocolError
from weft.protocol.reader_lease import LINGER_S, LeaseState, LeaseStep, ReaderLease

READ, STAY_BACK, LEAVE, WAKE_WAITERS, WAKE_OWNER = LeaseStep


def free_lease() -> ReaderLease[str]:
    lease: ReaderLease[str] = ReaderLease()
    assert lease.owner_gives() == (WAKE_WAITERS,)
    return lease


def test_the_owner_reads_first() -> None:
    lease: ReaderLease[str] = ReaderLease()
    assert lease.state is LeaseState.OWNER
    assert lease.waiter_asks("a") is STAY_BACK
    assert lease.waiting == ["a"]
    assert lease.owner_gives() == (WAKE_WAITERS,)
    assert lease.waiter_asks("a") is READ
    assert lease.waiting == []


def test_the_owner_stays_back_after_a_waiter_and_looks_by_itself() -> None:
    lease = free_lease()
    assert lease.waiter_asks("a") is READ
    assert lease.waiter_gives(10.0) == ()
    assert lease.owner_asks(10.0) == (STAY_BACK, LINGER_S)
    assert lease.owner_asks(10.0 + 2 * LINGER_S) == (READ, None)


def test_a_waiter_that_tries_reads_only_if_nobody_does_and_is_not_told_later() -> None:
    lease = free_lease()
    assert lease.waiter_tries()
    assert not lease.waiter_tries()
    assert lease.waiting == []
    assert lease.waiter_gives(10.0) == ()
    assert lease.waiter_tries()


def test_a_wait_that_is_long_wakes_the_owner_at_its_end() -> None:
    lease = free_lease()
    assert lease.waiter_asks("a") is READ
    assert lease.owner_asks(10.0) == (STAY_BACK, None)
    assert lease.waiter_asks("b") is STAY_BACK
    assert lease.waiter_gives(11.0) == (WAKE_WAITERS,)
    assert lease.waiter_leaves("b", 11.0) == (WAKE_OWNER,)
    assert lease.owner_asks(11.0) == (STAY_BACK, LINGER_S)


def test_a_free_lease_is_left_to_a_waiter_that_was_woken() -> None:
    lease = free_lease()
    assert lease.waiter_asks("a") is READ
    assert lease.waiter_asks("b") is STAY_BACK
    lease.waiter_gives(0.0)
    assert lease.owner_asks(100.0) == (STAY_BACK, None)
    assert lease.waiter_asks("b") is READ


@pytest.mark.parametrize("reader", ["owner", "waiter", "nobody"])
def test_after_a_stop_the_reader_ends_its_call_and_the_owner_cleans_up(reader: str) -> None:
    lease: ReaderLease[str] = ReaderLease() if reader == "owner" else free_lease()
    if reader == "waiter":
        assert lease.waiter_asks("a") is READ
    assert lease.stop() == ((WAKE_OWNER,) if reader == "nobody" else ())
    assert lease.stop() == ()
    assert lease.waiter_asks("b") is STAY_BACK
    if reader == "owner":
        assert lease.owner_gives() == ()
    elif reader == "waiter":
        assert lease.owner_asks(0.0)[0] is STAY_BACK
        assert WAKE_OWNER in lease.waiter_gives(0.0)
    assert lease.owner_asks(0.0) == (LEAVE, None)
    assert lease.note_closed() == (WAKE_WAITERS,)
    assert (lease.is_stopped, lease.is_ended) == (True, True)
    assert lease.waiter_asks("c") is STAY_BACK


def test_what_nobody_has_cannot_be_given() -> None:
    with pytest.raises(LocalProtocolError, match="in state FREE, with 0 threads waiting, cannot WAITER_GIVES"):
        free_lease().waiter_gives(0.0)
    with pytest.raises(LocalProtocolError, match="in state FREE, with 0 threads waiting, cannot OWNER_GIVES"):
        free_lease().owner_gives()


@pytest.mark.parametrize("seed", range(50))
def test_whatever_happens_one_reads_and_nobody_is_forgotten(seed: int) -> None:
    rng, lease, now_s = random.Random(seed), free_lease(), 0.0
    reader, asleep, owner_sleeps = "", set[str](), False
    for _ in range(300):
        now_s += rng.random() * LINGER_S
        steps: tuple[LeaseStep, ...] = ()
        who = rng.choice("abc")
        if reader and rng.random() < 0.5:
            steps = lease.owner_gives() if reader == "owner" else lease.waiter_gives(now_s)
            reader = ""
        elif rng.random() < 0.3 and reader != "owner":
            step, timeout_s = lease.owner_asks(now_s)
            assert (step is READ) <= (not reader)
            reader, owner_sleeps = ("owner", False) if step is READ else (reader, timeout_s is None)
        elif who in asleep and rng.random() < 0.3:
            steps = lease.waiter_leaves(who, now_s)
            asleep.discard(who)
        elif who != reader:
            step = lease.waiter_asks(who)
            assert (step is READ) == (not reader)
            (asleep.discard if step is READ else asleep.add)(who)
            reader = who if step is READ else reader
        owner_sleeps = owner_sleeps and WAKE_OWNER not in steps
        assert set(lease.waiting) == asleep
        # A free lease with nobody awake to take it would be a connection that nobody reads.
        assert reader or asleep or not owner_sleeps

"""A session ends on a task when its master cannot end it any more."""

from __future__ import annotations

from weft.protocol.master_lease import MasterLease


def test_a_session_lives_while_its_master_is_connected() -> None:
    lease = MasterLease(7, lost_s=10)
    assert lease.overdue(0, 7) == ""
    assert lease.overdue(1e9, 7) == ""


def test_another_run_of_the_master_has_none_of_its_sessions() -> None:
    assert MasterLease(7, lost_s=10).overdue(0, 8) == "its master was restarted"


def test_a_master_out_of_reach_is_waited_for_and_then_given_up() -> None:
    lease = MasterLease(7, lost_s=10)
    assert lease.overdue(100, 0) == ""
    assert lease.overdue(109, 0) == ""
    assert lease.overdue(110, 0) == "its master has been out of reach for 10 s"


def test_a_cut_that_heals_counts_for_nothing() -> None:
    lease = MasterLease(7, lost_s=10)
    assert lease.overdue(100, 0) == ""
    assert lease.overdue(109, 7) == ""
    assert lease.overdue(111, 0) == ""
    assert lease.overdue(120, 0) == ""
    assert lease.overdue(121, 0) != ""


def test_a_master_that_was_not_connected_yet_is_known_by_its_first_connection() -> None:
    lease = MasterLease(0, lost_s=10)
    assert lease.overdue(0, 7) == ""
    assert lease.overdue(1, 8) == "its master was restarted"

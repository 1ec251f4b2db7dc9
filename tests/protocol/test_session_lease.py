"""A session that a client has opened ends with its client, and not before."""

from __future__ import annotations

import pytest

from weft.protocol.limits import ServerLimits
from weft.protocol.session_lease import IDLE_CONNECTION_S, LeaseState, SessionLease

LIMITS = ServerLimits(unused_session_s=5, lost_session_s=10, idle_session_s=5000)


@pytest.fixture
def lease() -> SessionLease:
    return SessionLease(LIMITS, 100.0, "a:1")


def called(lease: SessionLease, at_s: float, peer: str = "a:1") -> None:
    lease.begin_call(peer)
    lease.end_call(at_s)


@pytest.mark.parametrize("stands", [True, False, None])
def test_a_session_that_nobody_uses_ends_whatever_is_known_of_its_client(lease: SessionLease, stands: bool | None) -> None:
    assert lease.overdue(104.9, stands) == ""
    assert lease.overdue(105, stands) == "nobody has used it for 5 s"


@pytest.mark.parametrize("stands", [True, False, None])
def test_a_session_with_a_connection_of_the_channel_ends_with_that_only(lease: SessionLease, stands: bool | None) -> None:
    lease.own()
    assert lease.state is LeaseState.OWNED
    assert lease.overdue(1e9, stands) == ""


def test_calls_do_not_take_a_session_from_its_connection(lease: SessionLease) -> None:
    lease.own()
    called(lease, 101)
    assert lease.state is LeaseState.OWNED


def test_a_session_that_is_called_lives_as_long_as_its_client_s_connection(lease: SessionLease) -> None:
    called(lease, 101)
    assert lease.overdue(1e9, True) == ""


def test_a_lost_connection_gives_its_client_some_time_to_come_back(lease: SessionLease) -> None:
    called(lease, 101)
    assert lease.overdue(110, False) == ""
    assert lease.overdue(119, False) == ""
    assert lease.overdue(120, False) == "its client's connection was lost 10 s ago"


def test_a_client_that_comes_back_by_another_connection_is_no_longer_lost(lease: SessionLease) -> None:
    called(lease, 101)
    assert lease.overdue(110, False) == ""
    called(lease, 115, "a:2")
    assert lease.peer == "a:2"
    assert lease.overdue(120, False) == ""
    assert lease.overdue(129, False) == ""
    assert lease.overdue(130, False) != ""


def test_a_connection_that_grpc_itself_closed_tells_nothing_of_its_client(lease: SessionLease) -> None:
    called(lease, 101)
    assert lease.overdue(101 + IDLE_CONNECTION_S, False) == ""
    assert lease.overdue(101 + IDLE_CONNECTION_S + 20, False) == ""
    assert lease.overdue(5100, False) == ""
    assert lease.overdue(5101, False) == "its client has not called for 5000 s"


def test_where_nothing_is_known_of_connections_silence_ends_a_session_late(lease: SessionLease) -> None:
    called(lease, 101)
    assert lease.overdue(5100, None) == ""
    assert lease.overdue(5101, None) == "its client has not called for 5000 s"


@pytest.mark.parametrize("stands", [True, False, None])
def test_a_session_that_is_being_answered_does_not_end(lease: SessionLease, stands: bool | None) -> None:
    lease.begin_call("a:1")
    assert lease.overdue(1e9, stands) == ""
    lease.end_call(1e9)
    assert lease.overdue(1e9 + 1, stands) == ""

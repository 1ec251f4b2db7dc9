"""A link that was cut is repaired while its peer shows that it lives, and what the peer does not ask for again is given up."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest

from weft.channel.admission import PeerLeftError, RejectedError
from weft.channel.connection import Connection
from weft.distributed.worker.network import link_repair
from weft.distributed.worker.network.link_repair import CutLink, LinkRepair
from weft.errors import OpError, UnavailableError
from weft.protocol.messages import Welcome

TASK = "/job:ps/replica:0/task:0"


class FakeConnection:
    """A connection that this side had dialed."""

    peer = Welcome(TASK, 7)


class FakeLinks:
    """A peer of incarnation 7 that answers dials by what is in `dials`: None is a connection, anything else is raised."""

    def __init__(self, *dials: OpError | None) -> None:
        self.dials = list(dials)
        self.current: Connection | None = None

    def connect(self, task: str) -> Connection:
        """Dial once."""
        answer = self.dials.pop(0) if len(self.dials) > 1 else self.dials[0]
        if answer is not None:
            raise answer
        self.current = cast("Connection", FakeConnection())
        return self.current

    def incarnation_of(self, task: str) -> int:
        """That of the peer."""
        return 7

    def connection_with(self, task: str) -> Connection | None:
        """The last connection."""
        return self.current

    def wait_for_dial(self, task: str, timeout_s: float) -> None:
        """The peer does not dial."""


def repaired(links: FakeLinks, monkeypatch: pytest.MonkeyPatch, cut_again: bool = False) -> list[Any]:
    """What becomes of a link, in order, until its repair is over."""
    monkeypatch.setattr(link_repair, "_GRACE_S", 0.01)
    monkeypatch.setattr(link_repair, "REPAIR_S", 0.2)
    monkeypatch.setattr(link_repair, "LONGEST_REPAIR_S", 0.6)
    monkeypatch.setattr(link_repair, "_LONGEST_PAUSE_S", 0.05)
    told: list[Any] = []

    def go_on(link: CutLink) -> None:
        told.append("go on")
        if cut_again:
            links.current = None

    LinkRepair(links, go_on, lambda link, error: told.append(error)).start(
        CutLink(cast("Connection", FakeConnection()), TASK, 7, None)
    )
    for thread in threading.enumerate():
        if thread.name == f"weft-repair-{TASK}":
            thread.join(10)
    return told


def cut_while_made() -> UnavailableError:
    error = UnavailableError.of("cannot reach it")
    error.__cause__ = PeerLeftError("the peer closed the connection without an answer")
    return error


def test_what_is_not_asked_for_again_is_given_up_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert repaired(FakeLinks(None), monkeypatch) == ["go on", None]


def test_nothing_is_given_up_by_the_repair_of_a_link_that_was_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert repaired(FakeLinks(None), monkeypatch, cut_again=True) == ["go on"]


def test_a_peer_whose_connections_are_cut_while_they_are_made_is_tried_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    # 0.01, 0.02, 0.04 and then 0.05 s apart: more than the 0.2 s that a silent peer gets.
    links = FakeLinks(*[cut_while_made() for _ in range(8)], None)
    assert repaired(links, monkeypatch) == ["go on", None]


@pytest.mark.parametrize("cause", [ConnectionRefusedError(111, "Connection refused"), RejectedError("another incarnation")])
def test_a_peer_that_refuses_is_given_up_at_once(cause: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    error = UnavailableError.of("cannot reach it")
    error.__cause__ = cause
    links = FakeLinks(error, None)
    assert repaired(links, monkeypatch) == [error]
    assert links.dials == [None]


@pytest.mark.parametrize("error", [UnavailableError.of("no route"), cut_while_made()])
def test_a_peer_that_cannot_be_reached_is_given_up_in_the_end(error: OpError, monkeypatch: pytest.MonkeyPatch) -> None:
    assert repaired(FakeLinks(error), monkeypatch) == [error]

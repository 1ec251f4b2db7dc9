"""Pages are for processes of the same user on loopback, and for holders of the cluster's credentials elsewhere."""

from __future__ import annotations

import errno
import http.client
import ssl
from collections.abc import Iterator

import pytest

from weft.credentials.cluster_token import new_token
from weft.credentials.credentials import CLIENT, Credentials, task_identity
from weft.distributed.rpc.pages import http_door
from weft.distributed.rpc.pages.http_door import HttpDoor, Page, page_token

_TOKEN = new_token().encode()


@pytest.fixture
def door() -> Iterator[HttpDoor]:
    door = HttpDoor("localhost", 0, lambda path: Page(b"hello") if path == "/" else None)
    yield door
    door.stop()


def asked(door: HttpDoor, path: str = "/", tls: ssl.SSLContext | None = None, **headers: str) -> tuple[int, str]:
    if tls is None:
        connection = http.client.HTTPConnection("localhost", door.port, timeout=10)
    else:
        connection = http.client.HTTPSConnection("localhost", door.port, timeout=10, context=tls)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_the_user_of_the_process_sees_pages(door: HttpDoor) -> None:
    assert asked(door) == (200, "hello")
    assert asked(door, "/else")[0] == 404


def test_a_name_that_was_made_to_lead_here_does_not(door: HttpDoor) -> None:
    status, told = asked(door, Host="evil.example")
    assert status == 403
    assert "by a name of this host" in told


def test_another_user_does_not(door: HttpDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_door, "tcp_peer", lambda own, peer: 12345)
    assert asked(door) == (403, "These pages are for processes of their own user on this host\n")


def test_a_connection_that_says_nothing_keeps_nobody_else(door: HttpDoor) -> None:
    silent = [http.client.HTTPConnection("localhost", door.port, timeout=10) for _ in range(3)]
    for each in silent:
        each.connect()
    assert asked(door) == (200, "hello")
    for each in silent:
        each.close()


def test_a_certificate_or_the_bearer_token_opens_pages_by_tls() -> None:
    own = Credentials.of_token(_TOKEN, task_identity("worker", 0)).context(is_server=True)
    door = HttpDoor("localhost", 0, lambda path: Page(b"hello"), tls=own, token=page_token(_TOKEN))
    member = Credentials.of_token(_TOKEN, CLIENT).context(is_server=False)
    stranger = ssl.create_default_context()
    for context in (member, stranger):
        context.check_hostname = False
    stranger.verify_mode = ssl.CERT_NONE
    try:
        assert asked(door, tls=member) == (200, "hello")
        assert asked(door, tls=stranger, Authorization=f"Bearer {page_token(_TOKEN)}") == (200, "hello")
        status, told = asked(door, tls=stranger, Authorization=f"Bearer {_TOKEN.decode()}")
        assert status == 403
        assert "bearer token" in told
        assert asked(door, tls=stranger)[0] == 403
        with pytest.raises((OSError, http.client.HTTPException)):
            asked(door)
    finally:
        door.stop()


def test_stopping_takes_no_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*args: object, **named: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    door = HttpDoor("localhost", 0, lambda path: None)
    monkeypatch.setattr("socket.socket", none_left)
    door.stop()
    assert not door._thread.is_alive()
    door.stop()

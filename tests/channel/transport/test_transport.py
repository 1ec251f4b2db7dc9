"""Every transport conforms, and one with the manners of an encrypted transport would."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.channel.transport.read_ahead import ReadAhead
from weft.channel.transport.memory import memory_pair
from weft.channel.transport.tcp import TcpListener
from weft.channel.transport.tls import TlsAddress, TlsListener, TlsTransport
from weft.channel.transport.transport import Transport, TransportListener
from weft.channel.transport.unix import UnixListener, UnixTransport
from weft.credentials.credentials import ANY_TASK, CLIENT, Credentials, task_identity
from weft.testing.transport_conformance import CHECKS, PATIENCE_S, OpenPair

_NAME = task_identity("worker", 0)
_SERVER = Credentials.of_token(b"a" * 64, _NAME)
_CLIENT = Credentials.of_token(b"a" * 64, CLIENT)


def by_listener(make: Callable[[], TransportListener]) -> tuple[Transport, Transport]:
    listener = make()
    try:
        with ThreadPoolExecutor(1) as pool:
            dialing = pool.submit(listener.address.connect, PATIENCE_S)
            dialed = dialing.result(PATIENCE_S)
        accepted = listener.accept()
    finally:
        listener.close()
    for end in (dialed, accepted):
        end.establish(PATIENCE_S)
    return dialed, accepted


def read_ahead(pair: tuple[Transport, Transport]) -> tuple[Transport, Transport]:
    return ReadAhead(pair[0]), ReadAhead(pair[1])


def by_tls(server: Credentials, client: Credentials, name: str = _NAME) -> tuple[Transport, Transport]:
    listener = TlsListener(TcpListener("127.0.0.1", 0), server.context(is_server=True), _NAME)
    try:
        address = TlsAddress(name, "127.0.0.1", listener.address.port, client.context(is_server=False))
        dialed, accepted = address.connect(PATIENCE_S), listener.accept()
    finally:
        listener.close()
    try:
        with ThreadPoolExecutor(1) as pool:
            accepting = pool.submit(accepted.establish, PATIENCE_S)
            dialed.establish(PATIENCE_S)
            accepting.result(PATIENCE_S)
    except BaseException:
        for end in (dialed, accepted):
            end.shut_down()
            end.close()
        raise
    return dialed, accepted


OPENERS: dict[str, OpenPair] = {
    "tcp": lambda: by_listener(lambda: TcpListener("127.0.0.1", 0)),
    "unix": lambda: by_listener(UnixListener),
    "memory": memory_pair,
    "narrow memory": lambda: memory_pair(5000),
    "tls": lambda: by_tls(_SERVER, _CLIENT),
    "read-ahead memory": lambda: read_ahead(memory_pair()),
    "read-ahead unix": lambda: read_ahead(by_listener(UnixListener)),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("opener", OPENERS.values(), ids=OPENERS)
def test_every_transport_conforms(opener: OpenPair, check: Callable[[OpenPair], None]) -> None:
    check(opener)


def test_a_transport_says_what_it_is_and_who_is_there() -> None:
    dialed, accepted = by_listener(lambda: TcpListener("127.0.0.1", 0))
    assert dialed.kind == "tcp"
    assert accepted.peer_name.startswith("127.0.0.1:")
    for end in (dialed, accepted):
        end.shut_down()
        end.close()
    assert [end.kind for end in memory_pair()] == ["memory"] * 2


def test_a_peer_that_has_gone_has_no_name() -> None:
    dialed, accepted = by_listener(lambda: TcpListener("127.0.0.1", 0))
    dialed.shut_down()
    accepted.shut_down()
    dialed.close()
    assert accepted.peer_name == "a peer that has gone"
    accepted.close()


def test_a_unix_transport_names_its_host() -> None:
    ends = [UnixTransport(sock) for sock in socket.socketpair()]
    assert [end.peer_name for end in ends] == ["this host"] * 2
    for end in ends:
        end.close()


@pytest.mark.parametrize("make", [memory_pair, lambda: [UnixTransport(sock) for sock in socket.socketpair()]])
def test_a_second_close_leaves_the_descriptors_of_others_open(make: Callable[[], list[Transport]]) -> None:
    ends = make()
    for end in ends:
        end.close()
    # They get the numbers that are free now; a forked child closes what it has of its parent's once more.
    others = [os.pipe() for _ in ends]
    try:
        for end in ends:
            end.close()
        for pair in others:
            os.write(pair[1], b"a")
            assert os.read(pair[0], 1) == b"a"
    finally:
        for descriptor in (each for pair in others for each in pair):
            os.close(descriptor)


@pytest.mark.parametrize(
    ("client", "name"),
    [(Credentials.of_token(b"b" * 64, CLIENT), _NAME), (_CLIENT, task_identity("ps", 0))],
    ids=["of another cluster", "of another task"],
)
def test_tls_admits_no_stranger_and_finds_no_other_task(client: Credentials, name: str) -> None:
    with pytest.raises(OSError, match="CERTIFICATE_VERIFY_FAILED"):
        by_tls(_SERVER, client, name)


def test_tls_tells_whose_certificate_the_peer_has() -> None:
    dialed, accepted = by_tls(_SERVER, _CLIENT)
    assert isinstance(dialed, TlsTransport)
    assert isinstance(accepted, TlsTransport)
    assert (dialed.peer_identities, accepted.peer_identities) == ({_NAME, ANY_TASK}, {CLIENT})
    for end in (dialed, accepted):
        end.shut_down()
        end.close()

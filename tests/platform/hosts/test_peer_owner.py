"""The kernel tells who is at the other end of a local connection, and nothing of an end that is closed."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from weft.platform.hosts import peer_owner

_LOOKUPS = [peer_owner.tcp_peer, lambda own, peer: peer_owner._by_table(peer, own)]
_STRANGER = """
import encodings.idna, os, socket, sys
os.setuid(65534)
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other kernels do not tell")


@pytest.fixture(params=["127.0.0.1", "::1"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, socket.socket]]:
    try:
        listener = socket.create_server((request.param, 0), family=socket.AF_INET6 if ":" in request.param else socket.AF_INET)
    except OSError:
        pytest.skip(f"this host has no {request.param}")
    with listener, socket.create_connection(listener.getsockname()[:2]) as dialled, listener.accept()[0] as accepted:
        yield accepted, dialled


@pytest.mark.parametrize("lookup", _LOOKUPS, ids=["netlink", "table"])
def test_the_owner_of_the_other_end_is_this_user(pair, lookup) -> None:
    accepted, _ = pair
    assert lookup(accepted.getsockname()[:2], accepted.getpeername()[:2]) == os.getuid()


@pytest.mark.parametrize("lookup", _LOOKUPS, ids=["netlink", "table"])
def test_an_end_that_closed_belongs_to_nobody(pair, lookup) -> None:
    accepted, dialled = pair
    own, peer = accepted.getsockname()[:2], accepted.getpeername()[:2]
    dialled.close()
    assert lookup(own, peer) is None


def test_without_descriptors_nothing_is_said_of_the_owner(pair) -> None:
    accepted, _ = pair
    own, peer = accepted.getsockname()[:2], accepted.getpeername()[:2]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            peer_owner.tcp_peer(own, peer)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("lookup", _LOOKUPS, ids=["netlink", "table"])
def test_a_listener_for_both_families_is_told_the_owner_of_an_ipv4_end(lookup) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this host has no IPv6")
    with (
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener,
        socket.create_connection(("127.0.0.1", listener.getsockname()[1])),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getpeername()[0] == "::ffff:127.0.0.1"
        assert lookup(accepted.getsockname()[:2], accepted.getpeername()[:2]) == os.getuid()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("lookup", _LOOKUPS, ids=["netlink", "table"])
def test_another_user_is_told_apart(lookup) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        port = str(listener.getsockname()[1])
        with subprocess.Popen([sys.executable, "-c", _STRANGER, port], stdin=subprocess.PIPE) as stranger:
            with listener.accept()[0] as accepted:
                assert lookup(accepted.getsockname(), accepted.getpeername()) == 65534
            assert stranger.stdin is not None
            stranger.stdin.close()


def test_a_unix_socket_tells_its_peer() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert peer_owner.unix_peer(one) == os.getuid()


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("a.example", False),
    ],
)
def test_loopback_addresses_are_those_of_this_host_alone(host: str, is_local: bool) -> None:
    assert peer_owner.is_loopback(host) is is_local

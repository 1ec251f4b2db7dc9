"""TCP: the transport between hosts."""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass

from weft.channel.transport.peer_evidence import tcp_evidence
from weft.channel.transport.stream_socket import LISTEN_BACKLOG, StreamSocket, enlarge_buffers, taken_over
from weft.errors import UnavailableError
from weft.platform.hosts.peer_owner import is_loopback, tcp_peer
from weft.protocol.heartbeat import Evidence


class TcpTransport(StreamSocket):
    """A TCP connection."""

    __slots__ = ()

    kind = "tcp"

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        # Every message is one send; to hold a small one back for the next would only add to its way.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        with contextlib.suppress(OSError):  # the peer has gone, which the first receiving call tells
            if sock.getpeername()[0] == sock.getsockname()[0]:
                enlarge_buffers(sock)

    @property
    def peer_user(self) -> int | None:
        """The owner of the other end, if it is on this host."""
        try:
            own, peer = self._sock.getsockname()[:2], self._sock.getpeername()[:2]
        except OSError:
            return None
        return tcp_peer(own, peer) if is_loopback(peer[0]) else None

    def evidence(self, silent_s: float) -> Evidence:
        """Whether the host at the other end confirms what it is sent."""
        return tcp_evidence(self._sock, silent_s)

    @property
    def peer_name(self) -> str:
        """The peer's host and port."""
        try:
            address = self._sock.getpeername()
        except OSError:
            return "a peer that has gone"
        return f"{address[0]}:{address[1]}"


@dataclass(frozen=True, slots=True)
class TcpAddress:
    """A TCP port, written `tcp:HOST:PORT`, IPv6 hosts in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tcp:{host}:{self.port}"

    @staticmethod
    def parse(rest: str) -> TcpAddress | None:
        """Return the address that stands behind `tcp:`, or None."""
        host, _, port = rest.rpartition(":")
        if host and port.isascii() and port.isdigit() and int(port) < 1 << 16:
            return TcpAddress(host.removeprefix("[").removesuffix("]"), int(port))
        return None

    @property
    def is_of_one_host(self) -> bool:
        """False: other hosts may reach it."""
        return False

    @property
    def is_reachable(self) -> bool:
        """True, as far as can be known without trying."""
        return True

    @property
    def why_unreachable(self) -> str:
        """Nothing is known before it is tried."""
        return "not tried"

    def connect(self, timeout_s: float) -> TcpTransport:
        """Return a transport to the port."""
        return taken_over(TcpTransport, socket.create_connection((self.host, self.port), timeout_s))


class TcpListener:
    """Listens on a TCP port.

    Args:
        host: the interface, "" for every one.
        port: 0 for any free one.
        advertised_host: the name by which peers shall dial; the host's own when there is none and every interface is listened
            on.

    Raises:
        UnavailableError: the address cannot be bound.
    """

    def __init__(self, host: str, port: int, advertised_host: str = "") -> None:
        self._sock = _bound(host, port)
        if not advertised_host:
            advertised_host = socket.gethostname() if host in ("", "0.0.0.0", "::") else host
        self.address = TcpAddress(advertised_host, self._sock.getsockname()[1])

    def fileno(self) -> int:
        """The listening socket's descriptor."""
        return self._sock.fileno()

    def accept(self) -> TcpTransport:
        """Return the next peer's transport."""
        return taken_over(TcpTransport, self.accept_socket())

    def accept_socket(self) -> socket.socket:
        """Return the next peer's socket; does not wait. Raises OSError."""
        return self._sock.accept()[0]

    def close(self) -> None:
        """Close the listening socket."""
        self._sock.close()

    def release_after_fork(self) -> None:
        """Close the child's copy of the socket."""
        self._sock.close()


def _bound(host: str, port: int) -> socket.socket:
    sock = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(LISTEN_BACKLOG)
        sock.setblocking(False)
    except OSError as error:
        if sock is not None:
            sock.close()
        raise UnavailableError.of(f"cannot listen on {TcpAddress(host, port)}: {error}") from error
    return sock

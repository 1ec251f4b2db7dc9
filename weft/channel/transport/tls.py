"""TLS over TCP: the transport between hosts that holds strangers off and shows nobody what it carries.

TLS 1.3 (RFC 8446) by Python's ssl, which is OpenSSL. Both sides show certificates; the dialing one asks for the name of the
task that it wants, so that another holder of the cluster's credentials cannot take that task's place.

OpenSSL's object of a connection is for one thread at a time, and a transport is read and written by two. So the socket
never blocks: a call holds the lock while OpenSSL works on bytes that are there, and waits for more of them without it.
"""

from __future__ import annotations

import contextlib
import math
import select
import socket
import ssl
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from weft.channel.transport.peer_evidence import tcp_evidence
from weft.channel.transport.stream_socket import taken_over
from weft.channel.transport.tcp import TcpAddress, TcpListener
from weft.channel.transport.transport import RECEIVE_TIMEOUT_S
from weft.protocol.heartbeat import Evidence
from weft.protocol.tensor_blob import Buffer

_RECORD_BYTES: Final = 1 << 14
"""The most that one TLS record holds: smaller buffers go into a record together."""

_SENT_AT_ONCE_BYTES: Final = 1 << 20


class TlsTransport:
    """A TCP connection under TLS, of either side.

    Args:
        sock: a connected socket, which it takes over.
        context: what this side shows and accepts.
        server_name: the name that the server's certificate must have; None on the server's side.
    """

    __slots__ = ("_lock", "_peer_name", "_retry", "_tls")

    kind = "tls"

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, server_name: str | None) -> None:
        address = sock.getpeername()
        self._peer_name = f"{address[0]}:{address[1]}"
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._tls = context.wrap_socket(
            sock, server_side=server_name is None, do_handshake_on_connect=False, server_hostname=server_name
        )
        self._lock = threading.Lock()
        # OpenSSL wants bytes that it could not send to come again as they were, also if more stand behind them now.
        self._retry: memoryview | None = None

    @property
    def peer_name(self) -> str:
        """The peer's host and port."""
        return self._peer_name

    @property
    def peer_user(self) -> None:
        """None: the peer is known by its certificate."""

    def evidence(self, silent_s: float) -> Evidence:
        """Whether the host at the other end confirms what it is sent."""
        return tcp_evidence(self._tls, silent_s)

    @property
    def peer_identities(self) -> frozenset[str]:
        """The names in the peer's certificate, once it is established."""
        certificate = self._tls.getpeercert() or {}
        return frozenset(str(entry[1]) for entry in certificate.get("subjectAltName", ()) if len(entry) == 2)

    @property
    def pending_bytes(self) -> int:
        """How much of a record is decrypted and not received yet."""
        with self._lock:
            return self._tls.pending()

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._tls.fileno()

    def establish(self, timeout_s: float) -> None:
        """Shake hands; raises OSError when a certificate is refused on this side, or the time is up."""
        deadline_s = time.monotonic() + timeout_s
        self._tls.setblocking(False)
        while True:
            try:
                self._tls.do_handshake()
                return
            except ssl.SSLWantReadError:
                awaited = select.POLLIN
            except ssl.SSLWantWriteError:
                awaited = select.POLLOUT
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not self._is_ready(awaited, left_s):
                raise TimeoutError(f"no TLS handshake within {timeout_s:g} s")

    def receive_ready(self, buffer: memoryview) -> int:
        """Decrypt the bytes that are there."""
        while True:
            with self._lock:
                try:
                    return self._tls.recv_into(buffer)
                except ssl.SSLWantReadError:
                    raise BlockingIOError from None
                except ssl.SSLWantWriteError:
                    pass
            # A key update is to be answered first, which the peer takes at once or has gone.
            if not self._is_ready(select.POLLOUT, RECEIVE_TIMEOUT_S):
                raise BlockingIOError

    def receive_all(self, buffer: memoryview) -> int:
        """Fill the buffer, or receive less when that takes long."""
        count = 0
        while count < len(buffer):
            try:
                received = self._receive_next(buffer[count:])
            except BlockingIOError:
                if not count:
                    raise
                break
            if not received:
                break
            count += received
        return count

    def _receive_next(self, buffer: memoryview) -> int:
        try:
            return self.receive_ready(buffer)
        except BlockingIOError:
            self._is_ready(select.POLLIN, RECEIVE_TIMEOUT_S)
        return self.receive_ready(buffer)

    def send_ready(self, buffers: Sequence[Buffer]) -> int:
        """Encrypt as much as the socket takes at once."""
        count = 0
        with self._lock:
            for piece in _pieces(buffers):
                sent = self._encrypt(memoryview(piece))
                count += sent
                if sent < len(piece):
                    break
        if not count:
            raise BlockingIOError
        return count

    def _encrypt(self, data: memoryview) -> int:
        """Send as much of the data as the socket takes, a record at a time; returns how many bytes went."""
        count = 0
        while count < len(data):
            record = data[count:][:_RECORD_BYTES] if self._retry is None else self._retry
            # OpenSSL cannot take a record back that the socket has no room for. One that polls as writable has a third of
            # its buffer free, which is room for a record, so that the caller is free to send other bytes after all.
            if self._retry is None and not self._is_ready(select.POLLOUT, 0):
                break
            try:
                count += self._tls.send(record)
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                self._retry = record
                break
            self._retry = None
        return count

    def send(self, buffers: Sequence[Buffer]) -> int:
        """Encrypt and send some bytes, waiting for the peer if the socket's buffer is full."""
        while True:
            try:
                return self.send_ready(buffers)
            except BlockingIOError:
                self._is_ready(select.POLLOUT, RECEIVE_TIMEOUT_S)

    def end_sending(self) -> None:
        """Send TLS's word that nothing follows (close_notify), and then TCP's, which a poll shows for good."""
        with self._lock:
            with contextlib.suppress(ssl.SSLWantReadError):
                # Python would wait for the peer's own end here, which is not asked for: on this socket it gives up at once.
                self._tls.unwrap()
            socket.socket.shutdown(self._tls, socket.SHUT_WR)

    def shut_down(self) -> None:
        """Shut both directions below, without the lock: a thread that holds it is freed."""
        with contextlib.suppress(OSError):
            # SSLSocket.shutdown would drop the encryption while other threads use it.
            socket.socket.shutdown(self._tls, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the descriptor."""
        self._tls.close()

    def _is_ready(self, event: int, timeout_s: float) -> bool:
        poll = select.poll()
        poll.register(self._tls.fileno(), event)
        return bool(poll.poll(math.ceil(timeout_s * 1000)))


def _pieces(buffers: Sequence[Buffer]) -> Sequence[Buffer]:
    """The buffers' bytes in pieces that are worth a record: small ones joined, large ones as they are.

    Only as much as one call should encrypt while it holds the lock.
    """
    pieces: list[Buffer] = []
    small: list[Buffer] = []
    joined = total = 0
    for buffer in buffers:
        view = memoryview(buffer).cast("B")
        if total >= _SENT_AT_ONCE_BYTES:
            break
        if len(view) + joined <= _RECORD_BYTES:
            small.append(view)
            joined += len(view)
        else:
            if small:
                pieces.append(b"".join(small))
                small, joined = [], 0
            pieces.append(view[:_SENT_AT_ONCE_BYTES])
            if len(view) > _SENT_AT_ONCE_BYTES:
                return pieces
        total += len(view)
    if small:
        pieces.append(b"".join(small))
    return pieces


@dataclass(frozen=True, slots=True)
class TlsAddress:
    """A TCP port whose owner shows a certificate for `name`, written `tls:NAME@HOST:PORT`."""

    name: str
    host: str
    port: int
    context: ssl.SSLContext | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tls:{self.name}@{host}:{self.port}"

    @staticmethod
    def parse(rest: str, context: ssl.SSLContext | None) -> TlsAddress | None:
        """Return the address that stands behind `tls:`, or None."""
        name, _, endpoint = rest.partition("@")
        tcp = TcpAddress.parse(endpoint) if name else None
        return None if tcp is None else TlsAddress(name, tcp.host, tcp.port, context)

    @property
    def is_of_one_host(self) -> bool:
        """False: other hosts may reach it."""
        return False

    @property
    def is_reachable(self) -> bool:
        """Whether this process has credentials to show."""
        return self.context is not None

    @property
    def why_unreachable(self) -> str:
        """The credentials that are missing."""
        return "it takes holders of the cluster's credentials only, and this process has none"

    def connect(self, timeout_s: float) -> TlsTransport:
        """Return a transport to the port."""
        if self.context is None:
            raise PermissionError(f"{self} takes holders of the cluster's credentials only")
        context = self.context
        sock = socket.create_connection((self.host, self.port), timeout_s)
        return taken_over(lambda connected: TlsTransport(connected, context, self.name), sock)


class TlsListener:
    """Listens on a TCP port for holders of the cluster's credentials.

    Args:
        tcp: the listener of the port, which it takes over.
        context: what this side shows and accepts.
        name: the name in this side's certificate.
    """

    def __init__(self, tcp: TcpListener, context: ssl.SSLContext, name: str) -> None:
        self._tcp = tcp
        self._context = context
        self.address = TlsAddress(name, tcp.address.host, tcp.address.port)

    def fileno(self) -> int:
        """The listening socket's descriptor."""
        return self._tcp.fileno()

    def accept(self) -> TlsTransport:
        """Return the next peer's transport, before its handshake."""
        return taken_over(lambda sock: TlsTransport(sock, self._context, None), self._tcp.accept_socket())

    def close(self) -> None:
        """Close the listening socket."""
        self._tcp.close()

    def release_after_fork(self) -> None:
        """Close the child's copy of the socket."""
        self._tcp.release_after_fork()

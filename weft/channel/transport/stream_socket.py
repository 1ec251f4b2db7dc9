"""StreamSocket: what transports over a kernel's stream socket have in common."""

from __future__ import annotations

import contextlib
import functools
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from weft.channel.transport.transport import RECEIVE_TIMEOUT_S
from weft.protocol.tensor_blob import Buffer

LISTEN_BACKLOG: Final = 1024
"""The number of peers that may wait to be accepted."""

_MAX_BUFFERS: Final = 512  # below every platform's IOV_MAX
_NO_WAIT: Final = socket.MSG_DONTWAIT
_WAIT_ALL: Final = socket.MSG_WAITALL
_TIMEOUT: Final = struct.pack("ll", 0, int(RECEIVE_TIMEOUT_S * 1e6))

# Loopback TCP moves twice as much with it, Unix sockets a quarter more. Between hosts the kernel's own tuning finds larger
# windows than a fixed buffer would allow.
_LOCAL_BUFFER_BYTES: Final = 1 << 20


class StreamSocket:
    """A Transport over a connected stream socket, which it takes over.

    The socket is a blocking one, since both its ends are used by threads. Each call that must not wait says so by a flag, which
    costs nothing; Python's own timeouts would put a poll before every call. The receiving timeout is the kernel's for that
    reason.
    """

    __slots__ = ("_sock", "receive_all", "receive_ready")

    pending_bytes = 0  # a poll sees all that a socket has

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        sock.settimeout(None)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEOUT)
        # Partials, not methods: they take no Python frame, several times a step.
        self.receive_ready: Callable[[memoryview], int] = functools.partial(sock.recv_into, flags=_NO_WAIT)
        self.receive_all: Callable[[memoryview], int] = functools.partial(sock.recv_into, flags=_WAIT_ALL)

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._sock.fileno()

    def establish(self, timeout_s: float) -> None:
        """Do nothing: a connected socket is ready."""

    def send_ready(self, buffers: Sequence[Buffer]) -> int:
        """Send the bytes that fit into the socket's buffer."""
        if len(buffers) == 1:  # the commonest message; half the cost of a list of buffers
            return self._sock.send(buffers[0], _NO_WAIT)
        return self._sock.sendmsg(buffers[:_MAX_BUFFERS], (), _NO_WAIT)

    def send(self, buffers: Sequence[Buffer]) -> int:
        """Send some bytes, waiting for the peer if the socket's buffer is full."""
        return self._sock.sendmsg(buffers[:_MAX_BUFFERS])

    def end_sending(self) -> None:
        """Half-close the socket."""
        self._sock.shutdown(socket.SHUT_WR)

    def shut_down(self) -> None:
        """Shut both directions of the socket, which frees threads that wait in a call."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket's descriptor."""
        self._sock.close()


_Made = TypeVar("_Made")


def taken_over(make: Callable[[socket.socket], _Made], sock: socket.socket) -> _Made:
    """Return the transport of a connected socket, which is closed if that fails: the peer may have gone."""
    try:
        return make(sock)
    except BaseException:
        sock.close()
        raise


def enlarge_buffers(sock: socket.socket) -> None:
    """Give a socket between two processes of one host the buffers that measured best."""
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, _LOCAL_BUFFER_BYTES)

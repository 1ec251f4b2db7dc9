"""Unix sockets: the transport between processes of one host, which can pass file descriptors."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import platform
import secrets
import socket
import stat
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.channel.transport.peer_evidence import unix_evidence
from weft.channel.transport.stream_socket import LISTEN_BACKLOG, StreamSocket, enlarge_buffers, taken_over
from weft.platform.files.owner_folder import owner_folder
from weft.platform.hosts.peer_owner import unix_peer
from weft.protocol.heartbeat import Evidence

_DESCRIPTOR: Final = struct.Struct("i")
_NO_WAIT: Final = socket.MSG_DONTWAIT
_SETTLED_S: Final = 60.0  # between the binding of a socket and its listening
_CLOSE_ON_EXEC: Final = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # not on every platform


class UnixTransport(StreamSocket):
    """A connected Unix stream socket; a DescriptorTransport."""

    __slots__ = ()

    kind = "unix"
    peer_name = "this host"

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        enlarge_buffers(sock)

    @property
    def peer_user(self) -> int | None:
        """The user of the process that made the connection."""
        try:
            return unix_peer(self._sock)
        except OSError:
            return None

    def evidence(self, silent_s: float) -> Evidence:
        """Whether the process at the other end runs."""
        return unix_evidence(self._sock)

    def send_with_descriptors(self, data: bytes, descriptors: Sequence[int]) -> int:
        """Send some of the data, with descriptors."""
        return socket.send_fds(self._sock, [data], descriptors, _NO_WAIT)

    def receive_with_descriptors(self, buffer: memoryview) -> tuple[int, list[int]]:
        """Receive bytes and the descriptors that come with them. The system closes those that it has no room for."""
        room = socket.CMSG_SPACE(_DESCRIPTOR.size)
        count, attached, _, _ = self._sock.recvmsg_into([buffer], room, _CLOSE_ON_EXEC | _NO_WAIT)
        descriptors: list[int] = []
        for level, kind, data in attached:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                whole = len(data) - len(data) % _DESCRIPTOR.size
                descriptors += (fd for (fd,) in _DESCRIPTOR.iter_unpack(data[:whole]))
        return count, descriptors


@functools.cache
def host_identity() -> str:
    """Return a name that two processes share exactly if one may reach the other's Unix sockets.

    That is the same boot of the same kernel, the same user, and the same network namespace: containers of one host that
    have their own network differ.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = str(Path("/proc/self/ns/net").stat().st_ino)
    except OSError:  # not Linux
        boot, namespace = platform.node(), ""
    return hashlib.sha256(f"{boot}/{os.getuid()}/{namespace}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A Unix socket, written `unix:IDENTITY:PATH`, for processes whose `host_identity()` is IDENTITY."""

    identity: str
    name: str

    def __str__(self) -> str:
        return f"unix:{self.identity}:{self.name}"

    @staticmethod
    def parse(rest: str) -> UnixAddress | None:
        """Return the address that stands behind `unix:`, or None."""
        identity, _, name = rest.partition(":")
        return UnixAddress(identity, name) if identity and name.startswith("/") else None

    @property
    def is_of_one_host(self) -> bool:
        """True: no other host can reach it."""
        return True

    @property
    def is_reachable(self) -> bool:
        """Whether this process is where the socket is."""
        return self.identity == host_identity()

    @property
    def why_unreachable(self) -> str:
        """The place of the socket."""
        return "on another host, or of another user"

    @property
    def path(self) -> str:
        """The address as the kernel takes it."""
        return self.name

    def connect(self, timeout_s: float) -> UnixTransport:
        """Return a transport to the socket."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(timeout_s)
            sock.connect(self.path)
        except BaseException:
            sock.close()
            raise
        return taken_over(UnixTransport, sock)


class UnixListener:
    """Listens on a Unix socket in a folder that only this user can enter.

    A file, not a name in Linux's abstract namespace, which every user of the host may call.
    """

    def __init__(self) -> None:
        folder = owner_folder()
        _sweep(folder)
        self._path = folder / secrets.token_hex(8)
        self.address = UnixAddress(host_identity(), str(self._path))
        self._sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._sock.bind(self.address.path)
        self._sock.listen(LISTEN_BACKLOG)
        self._sock.setblocking(False)

    def fileno(self) -> int:
        """The listening socket's descriptor."""
        return self._sock.fileno()

    def accept(self) -> UnixTransport:
        """Return the next peer's transport."""
        return taken_over(UnixTransport, self._sock.accept()[0])

    def close(self) -> None:
        """Close the listening socket and forget its name."""
        self._sock.close()
        self._path.unlink(missing_ok=True)

    def release_after_fork(self) -> None:
        """Close the child's copy of the socket; its name stays."""
        self._sock.close()


def _sweep(folder: Path) -> None:
    """Remove sockets whose listeners were killed: nobody listens, and they are too old to be about to."""
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISSOCK(path.lstat().st_mode) or time.time() - path.lstat().st_mtime < _SETTLED_S:
                continue
            if not _has_listener(path):
                path.unlink()


def _has_listener(path: Path) -> bool:
    """Whether a living process has bound the socket; it does not notice.

    The kernel refuses a datagram socket that wants a stream socket: with another error than where nobody is. A stream socket
    would be a connection, which every server of the user would take and warn of each time that another one starts.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        except OSError as error:
            if error.errno != errno.EPROTOTYPE:
                raise
    return True

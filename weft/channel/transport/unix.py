"""Unix sockets: the transport between processes of one host, which can pass file descriptors."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import secrets
import shutil
import socket
import struct
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from weft.channel.transport.stream_socket import LISTEN_BACKLOG, StreamSocket, enlarge_buffers, taken_over

_DESCRIPTOR: Final = struct.Struct("i")
_NO_WAIT: Final = socket.MSG_DONTWAIT
_CLOSE_ON_EXEC: Final = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # not on every platform


class UnixTransport(StreamSocket):
    """A connected Unix stream socket; a DescriptorTransport."""

    __slots__ = ()

    kind = "unix"
    peer_name = "this host"

    def __init__(self, sock: socket.socket) -> None:
        super().__init__(sock)
        enlarge_buffers(sock)

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
    """A Unix socket, written `unix:IDENTITY:NAME`, for processes whose `host_identity()` is IDENTITY.

    `name` starts with `@` in Linux's abstract namespace, else it is a path.
    """

    identity: str
    name: str

    def __str__(self) -> str:
        return f"unix:{self.identity}:{self.name}"

    @staticmethod
    def parse(rest: str) -> UnixAddress | None:
        """Return the address that stands behind `unix:`, or None."""
        identity, _, name = rest.partition(":")
        return UnixAddress(identity, name) if identity and name[:1] in ("@", "/") else None

    @property
    def is_of_one_host(self) -> bool:
        """True: no other host can reach it."""
        return True

    @property
    def is_reachable(self) -> bool:
        """Whether this process is where the socket is."""
        return self.identity == host_identity()

    @property
    def path(self) -> str:
        """The address as the kernel takes it."""
        return "\0" + self.name[1:] if self.name.startswith("@") else self.name

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
    """Listens on a Unix socket under a name that nobody can guess: on other systems than Linux a file, which goes with it."""

    def __init__(self) -> None:
        self._directory: Path | None = None
        name = f"@weft-{secrets.token_hex(16)}"
        if sys.platform != "linux":
            self._directory = Path(tempfile.mkdtemp(prefix="weft-"))
            name = str(self._directory / "channel")
        self.address = UnixAddress(host_identity(), name)
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
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)

    def release_after_fork(self) -> None:
        """Close the child's copy of the socket; its name stays."""
        self._sock.close()

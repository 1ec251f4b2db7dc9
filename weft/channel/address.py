"""Where a task's tensor channel can be reached, as text that travels over gRPC.

tcp:HOST:PORT             IPv6 hosts in brackets
unix:IDENTITY:@NAME       a Unix socket in Linux's abstract namespace, for those whose `host_identity()` is IDENTITY
unix:IDENTITY:/PATH       a Unix socket in the file system
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import socket
from dataclasses import dataclass
from pathlib import Path


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
class TcpAddress:
    """A TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"tcp:{host}:{self.port}"

    def connect(self, timeout_s: float) -> socket.socket:
        """Return a connected socket; raises OSError."""
        return socket.create_connection((self.host, self.port), timeout_s)


@dataclass(frozen=True, slots=True)
class UnixAddress:
    """A Unix socket; `name` starts with `@` in the abstract namespace, else it is a path."""

    identity: str
    name: str

    def __str__(self) -> str:
        return f"unix:{self.identity}:{self.name}"

    @property
    def is_reachable(self) -> bool:
        """Whether this process is where the socket is."""
        return self.identity == host_identity()

    @property
    def path(self) -> str:
        """The address as the kernel takes it."""
        return "\0" + self.name[1:] if self.name.startswith("@") else self.name

    def connect(self, timeout_s: float) -> socket.socket:
        """Return a connected socket; raises OSError."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(timeout_s)
            sock.connect(self.path)
        except BaseException:
            sock.close()
            raise
        return sock


def parse_address(text: str) -> TcpAddress | UnixAddress:
    """Return the address that the text stands for.

    Raises:
        ValueError: it stands for none.
    """
    scheme, _, rest = text.partition(":")
    first, _, last = rest.rpartition(":") if scheme == "tcp" else rest.partition(":")
    if scheme == "tcp" and first and last.isascii() and last.isdigit() and int(last) < 1 << 16:
        return TcpAddress(first.removeprefix("[").removesuffix("]"), int(last))
    if scheme == "unix" and first and last[:1] in ("@", "/"):
        return UnixAddress(first, last)
    raise ValueError(f"{text!r} is no address of a tensor channel: expected tcp:HOST:PORT or unix:IDENTITY:NAME")

"""The servers that run in this process, by address, so that sessions and peers here reach them without a transport."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Final

from weft.framework.cluster_spec import split_address

if TYPE_CHECKING:
    from weft.distributed.server.server import Server

# By process as well: a forked child inherits the table, but not the threads of the servers in it.
_SERVERS: Final[dict[tuple[int, int], Server]] = {}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "[::]", "::")


def add(port: int, server: Server) -> None:
    """Note a server that listens on a port of this host."""
    _SERVERS[os.getpid(), port] = server


def remove(port: int) -> None:
    """Forget a server that was stopped."""
    _SERVERS.pop((os.getpid(), port), None)


def find(address: str) -> Server | None:
    """The server of this process that listens at `host:port`, or None."""
    if not _SERVERS:
        return None
    host, port = split_address(address)
    server = _SERVERS.get((os.getpid(), port))
    return server if server is not None and _is_here(host) else None


def _is_here(host: str) -> bool:
    return host in _LOOPBACK or host in (socket.gethostname(), socket.getfqdn())

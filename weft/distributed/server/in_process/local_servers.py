"""The servers that run in this process, by address, so that sessions and peers here reach them without a transport."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from tensorboard.compat.proto import config_pb2

from weft.distributed.master.master_session import MasterSession
from weft.framework.graphs.graph import Graph
from weft.platform.hosts.host_port import split_address
from weft.proto import tensorflow_server_pb2
from weft.runtime.worker import Worker


class LocalServer(Protocol):
    """A server as sessions and peers in its process use it."""

    @property
    def target(self) -> str:
        """The target for a session on it, `grpc://host:port`."""
        ...

    @property
    def port(self) -> int:
        """The port on which it listens."""
        ...

    @property
    def server_def(self) -> tensorflow_server_pb2.ServerDef:
        """The ServerDef of this task."""
        ...

    @property
    def worker(self) -> Worker:
        """The worker of its task."""
        ...

    def open_session(
        self,
        graph: Graph,
        config: config_pb2.ConfigProto | None,
        raise_if_cancelled: Callable[[], None],
        timeout_s: float | None = None,
    ) -> MasterSession:
        """Open a session on its master."""
        ...

    def reset(self, containers: Sequence[str]) -> None:
        """Drop containers in the whole cluster."""
        ...

    def add_neighbour(self, worker: Worker) -> None:
        """Hand values for this worker of the same process over, with no transport."""
        ...


# By process as well: a forked child inherits the table, but not the threads of the servers in it. By host, since a process may
# have servers on several of its addresses, with the same port on each.
_SERVERS: Final[dict[tuple[int, int], dict[str, LocalServer]]] = {}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "[::]", "::")


def add(host: str, port: int, server: LocalServer) -> None:
    """Note a server that listens on a port of this host; `host` is what its cluster calls this host."""
    _SERVERS.setdefault((os.getpid(), port), {})[host] = server


def remove(host: str, port: int) -> None:
    """Forget a server that was stopped."""
    key = os.getpid(), port
    servers = _SERVERS.get(key, {})
    servers.pop(host, None)
    if not servers:
        _SERVERS.pop(key, None)


def find(address: str) -> LocalServer | None:
    """The server of this process that listens at `host:port`, or None."""
    if not _SERVERS:
        return None
    host, port = split_address(address)
    servers = _SERVERS.get((os.getpid(), port))
    if servers is None:
        return None
    # A cluster on several hosts calls them by addresses or names of its own, such as a pod's, which no call here tells.
    if host in servers:
        return servers[host]
    return next(iter(servers.values())) if _is_here(host) else None


def _is_here(host: str) -> bool:
    return host in _LOOPBACK or host in (socket.gethostname(), socket.getfqdn())

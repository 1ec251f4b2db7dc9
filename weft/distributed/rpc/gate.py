"""Gate: who may call a server's services.

On loopback those are the processes of the server's own user, by the kernel's word, or by a secret in a file of the user's where
the kernel does not tell. From elsewhere they are the holders of the cluster's credentials, by TLS.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from weft.errors import PermissionDeniedError, ResourceExhaustedError
from weft.platform.hosts.peer_owner import endpoint_key, established_peers, is_loopback, tcp_peer
from weft.platform.imports.grpc_modules import grpc

_TLS_NAMES: Final = "x509_subject_alternative_name"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the names in the certificate; none of a process of the same user on this host."""

    identities: frozenset[str] = frozenset()

    def may_be(self, identity: str) -> bool:
        """Whether the caller may act as the task or client of that name: processes of one user may act as each other."""
        return not self.identities or identity in self.identities


class Gate:
    """Judges the calls that come to one server. Safe from any thread.

    Args:
        interfaces: the addresses at which the server listens.
        port: its port.
        is_open: whether anybody may call; for servers that were told so.
    """

    def __init__(self, interfaces: Sequence[str], port: int, *, is_open: bool = False) -> None:
        self._interfaces = tuple(interfaces)
        self._port = port
        self._user = os.getuid()
        self.is_open = is_open

    def check(self, context: grpc.ServicerContext) -> Caller:
        """Return the caller of a call.

        Raises:
            PermissionDeniedError: the caller may not call.
            ResourceExhaustedError: this process has no descriptor left to ask the kernel with who calls.
        """
        names = context.auth_context().get(_TLS_NAMES)
        if names:
            return Caller(frozenset(name.decode("utf-8", "replace") for name in names))
        if self.is_open:
            return Caller()
        peer = _endpoint(context.peer())
        user = None if peer is None else self._owner_of(peer)
        if user != self._user:
            raise PermissionDeniedError.of(
                "This server takes calls of its own user's processes on this host only"
                + ("" if user is None else f", which have the user id {self._user}; the caller's is {user}")
            )
        return Caller()

    def _owner_of(self, peer: tuple[str, int]) -> int | None:
        if not is_loopback(peer[0]):
            return None
        owners = (tcp_peer((interface, self._port), peer) for interface in self._interfaces if is_loopback(interface))
        try:
            return next((owner for owner in owners if owner is not None), None)
        except OSError as error:
            raise ResourceExhaustedError.of(
                f"The server at port {self._port} cannot find out who calls: its process has no file descriptors left "
                f"({error.strerror}). Close sessions, or start it with a higher limit (ulimit -n)"
            ) from None


class StandingConnections:
    """Tells which connections with a port of this host stand, as of the time of the first question."""

    def __init__(self, port: int) -> None:
        self._port = port

    def has(self, peer: str) -> bool | None:
        """Whether the connection with a peer, in gRPC's text, stands; None if the system does not tell."""
        endpoint = _endpoint(peer)
        return None if endpoint is None or self._peers is None else endpoint_key(endpoint) in self._peers

    @functools.cached_property
    def _peers(self) -> frozenset[str] | None:
        return established_peers(self._port)


def _endpoint(peer: str) -> tuple[str, int] | None:
    """The address and port in gRPC's text for a peer, such as `ipv4:127.0.0.1:40000` or `ipv6:%5B::1%5D:40000`."""
    family, _, rest = unquote(peer).partition(":")
    host, _, port = rest.rpartition(":")
    return (host.strip("[]"), int(port)) if family in ("ipv4", "ipv6") and port.isdigit() else None

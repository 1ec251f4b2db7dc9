"""Binding a gRPC server to the address of its task."""

from __future__ import annotations

import errno
import logging
import socket
import time
from typing import Final

from weft.credentials.credentials import Credentials
from weft.distributed.server.server_def import OwnTask
from weft.errors import InvalidArgumentError, UnknownError
from weft.platform.hosts.host_port import split_address
from weft.platform.hosts.local_address import interfaces_of
from weft.platform.hosts.peer_owner import is_loopback
from weft.platform.imports.grpc_modules import grpc

_LOG: Final = logging.getLogger("weft")

# A process that has just been told to end, by a notebook's cell or a supervisor, still has its port for a moment.
_GOES_S: Final = 1.0
_LOOK_S: Final = 0.02


def bind_task(server: grpc.Server, task: OwnTask, credentials: Credentials | None) -> int:
    """Let a gRPC server listen at its task's address, and tell where the cluster has given that to another task as well.

    Raises:
        InvalidArgumentError, UnknownError: as `bind` does.
    """
    shared = task.told_of_address
    if not shared:
        return bind(server, task.address, credentials)
    _LOG.warning("%s", shared)
    try:
        return bind(server, task.address, credentials)
    except UnknownError as error:
        raise UnknownError.of(f"{error.message}. {shared}") from None


def bind(server: grpc.Server, address: str, credentials: Credentials | None = None) -> int:
    """Let a gRPC server listen at `host:port`, on the interfaces that the host's name stands for; returns the port.

    Args:
        server: a server that is not started.
        address: where to listen; port 0 is any free one.
        credentials: how the server shows that it belongs to the cluster, and whom it accepts; without any, connections are not
            encrypted.

    Raises:
        InvalidArgumentError: there is no port in the address, or the host does not resolve to an address of this machine.
        UnknownError: the port is in use, and still so a second later.
    """
    host, port = split_address(address)
    try:
        interfaces = interfaces_of(host)
    except OSError as error:
        raise InvalidArgumentError.of(
            f"Could not start gRPC server at {address!r}: the host {host!r} does not resolve ({error.strerror})"
        ) from None
    tls = None
    if credentials is not None:
        own = credentials.own
        tls = grpc.ssl_server_credentials([(own.key, own.certificate)], credentials.authority, require_client_auth=True)
    last_s = time.monotonic() + _GOES_S
    for interface in [each for each in interfaces if _is_there(address, each, port, last_s)]:
        port = _bind_one(server, address, interface, port, tls)
    return port


def _bind_one(server: grpc.Server, address: str, interface: str, port: int, tls: grpc.ServerCredentials | None) -> int:
    endpoint = f"[{interface}]:{port}" if ":" in interface else f"{interface}:{port}"
    try:
        bound = server.add_insecure_port(endpoint) if tls is None else server.add_secure_port(endpoint, tls)
    except RuntimeError as error:
        raise _in_use(address, port, str(error)) from None
    if not bound:
        raise _in_use(address, port, "bind failed")
    return int(bound)


def _is_there(address: str, interface: str, port: int, last_s: float) -> bool:
    """Whether the port can be bound on an interface; False for an interface that this machine has not got beside others.

    gRPC says less about why it cannot bind, and says it on stderr. A port in use is waited for until `last_s`.
    """
    refused = _refusal(interface, port)
    while refused is not None and refused.errno == errno.EADDRINUSE and time.monotonic() < last_s:
        time.sleep(_LOOK_S)
        refused = _refusal(interface, port)
    if refused is None:
        return True
    if refused.errno == errno.EADDRNOTAVAIL and ":" in interface and is_loopback(interface):
        return False
    if refused.errno == errno.EADDRNOTAVAIL:
        raise InvalidArgumentError.of(
            f"Could not start gRPC server at {address!r}: {interface} is no address of this machine. "
            f"Give the task an address of its own in the cluster spec, or 0.0.0.0 to listen on every interface"
        )
    raise _in_use(address, port, refused.strerror or str(refused))


def _refusal(interface: str, port: int) -> OSError | None:
    with socket.socket(socket.AF_INET6 if ":" in interface else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((interface, port))
        except OSError as error:
            return error
    return None


def _in_use(address: str, port: int, reason: str) -> UnknownError:
    return UnknownError.of(
        f"Could not start gRPC server at {address!r}: port {port} cannot be bound ({reason}): another process "
        f"has it, or it may not be used. Choose another port, or 0 for any; a second process with the job and the task "
        f"index of one that runs has its address, too"
    )

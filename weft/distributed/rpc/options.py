"""How weft uses gRPC: options of channels and servers, and binding a server to its address."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from typing import Final

import grpc

from weft.credentials.credentials import ANY_TASK, Credentials
from weft.errors import InvalidArgumentError, UnknownError
from weft.framework.cluster_spec import split_address
from weft.platform.local_address import interfaces_of
from weft.platform.peer_owner import is_loopback
from weft.protocol.heartbeat import TIMEOUT_S

_COMMON: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)
# Cloud networks forget idle connections; a ping every half minute keeps them.
_IDLE_PINGS: Final = (("grpc.keepalive_time_ms", 30_000), ("grpc.keepalive_timeout_ms", 20_000))

CHANNEL_OPTIONS: Final = (
    *_COMMON,
    # A cluster's tasks talk to each other directly, whatever http_proxy says.
    ("grpc.enable_http_proxy", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),  # how long one attempt may take, too
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.use_local_subchannel_pool", 1),
)

SERVER_OPTIONS: Final = (
    *_COMMON,
    *_IDLE_PINGS,
    # Two servers on one port are a mistake, not load balancing.
    ("grpc.so_reuseport", 0),
    # Peers ask often whether this process lives, as they are told to.
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10),
    ("grpc.http2.max_ping_strikes", 0),
)


def pings(timeout_s: float | None) -> Sequence[tuple[str, int]]:
    """The options of a channel whose calls fail when the peer's process stands still, or is cut off, for so long.

    gRPC answers pings on threads of its own: a process whose interpreter is busy does, a stopped one does not. A ping has a
    timeout beside that of keep-alive, a minute by default, and the longer one counts.
    """
    if timeout_s is None:
        return _IDLE_PINGS
    half_ms = max(int(timeout_s * 500), 10)
    return (
        ("grpc.keepalive_time_ms", half_ms), ("grpc.keepalive_timeout_ms", half_ms), ("grpc.http2.ping_timeout_ms", half_ms)
    )  # fmt: skip


def open_channel(
    address: str,
    credentials: Credentials | None = None,
    server_name: str = ANY_TASK,
    heartbeat_timeout_s: float | None = TIMEOUT_S,
) -> grpc.Channel:
    """A gRPC channel to `host:port`; connects when it is first used.

    Args:
        address: where the server listens.
        credentials: how this process shows that it belongs to the cluster; without any, the channel is not encrypted.
        server_name: the name that the server's certificate must have.
        heartbeat_timeout_s: how soon calls fail when the server's process stands still; None for never.
    """
    options = (*CHANNEL_OPTIONS, *pings(heartbeat_timeout_s))
    if credentials is None:
        return grpc.insecure_channel(address, options=options)
    own = credentials.own
    tls = grpc.ssl_channel_credentials(credentials.authority, own.key, own.certificate)
    return grpc.secure_channel(address, tls, options=(*options, ("grpc.ssl_target_name_override", server_name)))


def bind(server: grpc.Server, address: str, credentials: Credentials | None = None) -> int:
    """Let a gRPC server listen at `host:port`, on the interfaces that the host's name stands for; returns the port.

    Args:
        server: a server that is not started.
        address: where to listen; port 0 is any free one.
        credentials: how the server shows that it belongs to the cluster, and whom it accepts; without any, connections are not
            encrypted.

    Raises:
        InvalidArgumentError: there is no port in the address, or the host does not resolve to an address of this machine.
        UnknownError: the port is in use.
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
    for interface in [each for each in interfaces if _is_there(address, each, port)]:
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


def _is_there(address: str, interface: str, port: int) -> bool:
    """Whether the port can be bound on an interface; False for an interface that this machine has not got beside others.

    gRPC says less about why it cannot bind, and says it on stderr.
    """
    with socket.socket(socket.AF_INET6 if ":" in interface else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((interface, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL and ":" in interface and is_loopback(interface):
                return False
            if error.errno == errno.EADDRNOTAVAIL:
                raise InvalidArgumentError.of(
                    f"Could not start gRPC server at {address!r}: {interface} is no address of this machine. "
                    f"Give the task an address of its own in the cluster spec, or 0.0.0.0 to listen on every interface"
                ) from None
            raise _in_use(address, port, error.strerror or str(error)) from None
    return True


def _in_use(address: str, port: int, reason: str) -> UnknownError:
    return UnknownError.of(
        f"Could not start gRPC server at {address!r}: port {port} cannot be bound ({reason}): another process "
        f"has it, or it may not be used. Choose another port, or 0 for any"
    )

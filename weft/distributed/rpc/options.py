"""How weft uses gRPC: options of channels and servers, and binding a server to its address."""

from __future__ import annotations

import socket
from typing import Any, Final

import grpc

from weft.errors import InvalidArgumentError, UnknownError
from weft.framework.cluster_spec import split_address

_COMMON: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    # Cloud networks forget idle connections; a ping every half minute keeps them.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
)

CHANNEL_OPTIONS: Final = (
    *_COMMON,
    # A cluster's tasks talk to each other directly, whatever http_proxy says.
    ("grpc.enable_http_proxy", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    ("grpc.use_local_subchannel_pool", 1),
)

SERVER_OPTIONS: Final = (
    *_COMMON,
    # Two servers on one port are a mistake, not load balancing.
    ("grpc.so_reuseport", 0),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
)


def open_channel(address: str) -> Any:
    """A gRPC channel to `host:port`; connects when it is first used."""
    return grpc.insecure_channel(address, options=CHANNEL_OPTIONS)


def bind(server: Any, address: str) -> int:
    """Let a gRPC server listen on the port of `host:port` on every interface; returns the port.

    A cluster spec names the host by which others reach this task, so the name is only checked to exist.

    Raises:
        InvalidArgumentError: there is no port in the address, or the host does not resolve.
        UnknownError: the port is in use.
    """
    host, port = split_address(address)
    try:
        socket.getaddrinfo(host, port)
    except OSError as error:
        raise InvalidArgumentError(
            None,
            None,
            f"Could not start gRPC server at {address!r}: the host {host!r} does not resolve ({error.strerror})",
        ) from None
    _check_free(address, port)
    last = ""
    for interface in ("[::]", "0.0.0.0"):
        try:
            bound = server.add_insecure_port(f"{interface}:{port}")
        except RuntimeError as error:
            last = str(error)
            continue
        if bound:
            return int(bound)
    raise UnknownError(
        None, None, f"Could not start gRPC server at {address!r}: port {port} is in use by another process, or may not "
        f"be used ({last or 'bind failed'}). Choose another port, or 0 for any"
    )  # fmt: skip


def _check_free(address: str, port: int) -> None:
    # gRPC says less about why it cannot bind, and says it on stderr.
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            raise UnknownError(
                None,
                None,
                f"Could not start gRPC server at {address!r}: port {port} cannot be bound ({error.strerror}): another process "
                "has it, or it may not be used. Choose another port, or 0 for any",
            ) from None

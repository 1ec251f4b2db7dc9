"""How weft uses gRPC: the options of channels and servers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from weft.credentials.credentials import ANY_TASK, Credentials
from weft.platform.imports.grpc_modules import grpc
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
    timeout beside that of keep-alive, a minute by default, and the longer one counts. None has rare pings only, which keep idle
    connections, and infinity has none at all, for servers that are not weft's.
    """
    if timeout_s is None:
        return _IDLE_PINGS
    if timeout_s == math.inf:
        return ()
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

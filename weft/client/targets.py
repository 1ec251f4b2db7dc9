"""Targets: from the string that names where a session runs to what runs it."""

from __future__ import annotations

from collections.abc import Sequence

from tensorboard.compat.proto import config_pb2

from weft.client.backend import Backend
from weft.distributed.client.chosen_session import ChosenSession
from weft.distributed.master.direct_session import close_direct_sessions, open_direct_session
from weft.distributed.rpc.master.requests import reset_containers
from weft.distributed.server.in_process import local_servers
from weft.distributed.server.in_process.in_process_session import InProcessSession
from weft.errors import NotFoundError
from weft.framework.graphs.graph import Graph
from weft.platform.hosts.host_port import split_address


def open_backend(target: str, graph: Graph, config: config_pb2.ConfigProto | None) -> Backend:
    """Open what runs a session's steps.

    Raises:
        NotFoundError: the target is neither empty nor `grpc://host:port`.
    """
    if not target:
        return open_direct_session(graph, config_pb2.ConfigProto() if config is None else config)
    address = _address_of(target)
    server = local_servers.find(address)
    if server is not None and not (config is not None and config.rpc_options.use_rpc_for_inprocess_master):
        return InProcessSession(server, graph, config)
    return ChosenSession(address, graph, config_pb2.ConfigProto() if config is None else config)


def is_foreign(backend: Backend | None) -> bool:
    """Whether a server of TensorFlow's runs the steps; asks it, and waits for it, if nothing has run yet."""
    return isinstance(backend, ChosenSession) and backend.is_foreign()


def reset(target: str, containers: Sequence[str], config: config_pb2.ConfigProto | None) -> None:
    """Drop containers on the server `target` and its cluster; errors as `Session.reset` says."""
    if not target:
        close_direct_sessions()
        return
    address = _address_of(target)
    server = local_servers.find(address)
    if server is not None:
        server.reset(containers)
        return
    timeout_ms = config.operation_timeout_in_ms if config is not None else 0
    reset_containers(address, containers, timeout_ms / 1000 or None)


def _address_of(target: str) -> str:
    if not target.startswith("grpc://"):
        raise _unknown_target(target)
    address = target[len("grpc://") :]
    split_address(address)
    return address


def _unknown_target(target: str) -> NotFoundError:
    return NotFoundError.of(
        f"No session factory registered for the given session options: {{target: {target!r}}}. A target is '' for this process "
        "or 'grpc://host:port' for a server",
    )

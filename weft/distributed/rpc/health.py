"""gRPC's health checking: lets probes and load balancers ask whether a server serves."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from typing import Final

from weft.errors import InvalidArgumentError
from weft.platform.imports.grpc_modules import grpc, health, health_pb2, health_pb2_grpc

SERVICE: Final = "grpc.health.v1.Health"
PORT_VARIABLE: Final = "WEFT_HEALTH_PORT"
"""Names the port where probes are answered in plain text."""
_LOG: Final = logging.getLogger("weft")


class HealthService:
    """Answers for a server and its services, which all begin and end to serve together. Safe from any thread.

    Args:
        services: the full names of the services that the server has.
    """

    def __init__(self, services: Sequence[str]) -> None:
        self._answers = health.HealthServicer()
        for service in (health.OVERALL_HEALTH, SERVICE, *services):
            self._answers.set(service, health_pb2.HealthCheckResponse.SERVING)

    def add_to(self, server: grpc.Server) -> None:
        """Let a server that is not started yet answer these calls."""
        health_pb2_grpc.add_HealthServicer_to_server(self._answers, server)

    def serve_probes(self, environment: Mapping[str, str]) -> Callable[[], object]:
        """Answer these calls alone on a port of their own, in plain text, where the environment asks for it.

        Probes of Kubernetes speak no TLS, and have no credentials. Returns what ends it.

        Raises:
            InvalidArgumentError: the environment asks for what is no port.
        """
        text = environment.get(PORT_VARIABLE, "")
        if not text:
            return lambda: None
        if not text.isdecimal() or int(text) > 65535:
            raise InvalidArgumentError.of(f"{PORT_VARIABLE} should be a port, and is {text!r}")
        server = grpc.server(futures.ThreadPoolExecutor(1, thread_name_prefix="weft-health"))
        self.add_to(server)
        try:
            server.add_insecure_port(f"[::]:{text}")
        except RuntimeError:
            # A process has several servers, and the first one answers.
            _LOG.warning("Port %s for probes is taken (%s): this server answers none", text, PORT_VARIABLE)
            return lambda: None
        server.start()
        return lambda: server.stop(None)

    def stop_serving(self) -> None:
        """From now on, answer that nothing is served; calls that watch are told."""
        self._answers.enter_graceful_shutdown()

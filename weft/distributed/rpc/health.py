"""gRPC's health checking: lets probes and load balancers ask whether a server serves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

SERVICE: Final = health.SERVICE_NAME


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

    def stop_serving(self) -> None:
        """From now on, answer that nothing is served; calls that watch are told."""
        self._answers.enter_graceful_shutdown()

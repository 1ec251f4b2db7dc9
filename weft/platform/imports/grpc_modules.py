"""gRPC's modules, imported when something first looks into one: a session without a server needs none of them (30 ms)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.platform.imports.later import Later

__all__ = ["grpc", "health", "health_pb2", "health_pb2_grpc"]

if TYPE_CHECKING:
    import grpc
    from grpc_health.v1 import health, health_pb2, health_pb2_grpc
else:
    grpc = Later("grpc")
    health = Later("grpc_health.v1.health")
    health_pb2 = Later("grpc_health.v1.health_pb2")
    health_pb2_grpc = Later("grpc_health.v1.health_pb2_grpc")

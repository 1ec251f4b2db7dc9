"""gRPC's health checking: lets probes and load balancers ask whether a server serves."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import grpc

from weft.distributed.rpc.status import answer
from weft.proto.health_pb2 import HealthCheckRequest, HealthCheckResponse

SERVICE: Final = "grpc.health.v1.Health"


class HealthService:
    """Answers for a server and its services, which all begin and end to serve together. Safe from any thread.

    Args:
        services: the full names of the services that the server has.
    """

    def __init__(self, services: Sequence[str]) -> None:
        self._services = {"", SERVICE, *services}
        self._changed = threading.Condition()
        self._is_serving = True

    def handler(self) -> Any:
        """The gRPC handler to add to a server."""
        methods = {
            "Check": grpc.unary_unary_rpc_method_handler(self._check, response_serializer=_serialized),
            "Watch": grpc.unary_stream_rpc_method_handler(self._watch, response_serializer=_serialized),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    def stop_serving(self) -> None:
        """From now on, answer that nothing is served; calls that watch are told and end."""
        with self._changed:
            self._is_serving = False
            self._changed.notify_all()

    def _status(self, service: str) -> HealthCheckResponse:
        if service not in self._services:
            return HealthCheckResponse(status=HealthCheckResponse.SERVICE_UNKNOWN)
        status = HealthCheckResponse.SERVING if self._is_serving else HealthCheckResponse.NOT_SERVING
        return HealthCheckResponse(status=status)

    def _check(self, data: bytes, context: Any) -> HealthCheckResponse:
        found = answer(context, f"{SERVICE}.Check", lambda: self._status(HealthCheckRequest.FromString(data).service))
        if found.status == HealthCheckResponse.SERVICE_UNKNOWN:
            context.abort(grpc.StatusCode.NOT_FOUND, "this server has no such service")
        return found

    def _watch(self, data: bytes, context: Any) -> Iterator[HealthCheckResponse]:
        request = answer(context, f"{SERVICE}.Watch", lambda: HealthCheckRequest.FromString(data))
        is_open = context.add_callback(self._wake)
        first = self._status(request.service)
        yield first
        with self._changed:
            while is_open and self._is_serving and context.is_active():
                self._changed.wait()
        last = self._status(request.service)
        if last != first:
            yield last

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def _serialized(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data

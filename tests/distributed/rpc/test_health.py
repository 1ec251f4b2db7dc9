"""Probes see whether a server serves, by gRPC's own health protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from weft.distributed.rpc.health import PORT_VARIABLE, HealthService
from weft.distributed.rpc.options import SERVER_OPTIONS, open_channel
from weft.distributed.rpc.threads import RpcThreads
from weft.distributed.server.binding import bind
from weft.errors import InvalidArgumentError
from weft.platform.hosts.free_ports import free_ports


@pytest.fixture
def health() -> HealthService:
    return HealthService(["tensorflow.MasterService"])


@pytest.fixture
def channel(health: HealthService) -> Iterator[Any]:
    server = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    health.add_to(server)
    port = bind(server, "localhost:0")
    server.start()
    with open_channel(f"localhost:{port}") as found:
        yield found
    server.stop(None).wait()


def check(channel: Any, service: str) -> int:
    data = HealthCheckRequest(service=service).SerializeToString()
    return HealthCheckResponse.FromString(channel.unary_unary("/grpc.health.v1.Health/Check")(data, timeout=20)).status


@pytest.mark.parametrize("service", ["", "tensorflow.MasterService", "grpc.health.v1.Health"])
def test_a_server_serves_until_it_stops(channel: Any, health: HealthService, service: str) -> None:
    assert check(channel, service) == HealthCheckResponse.SERVING
    health.stop_serving()
    assert check(channel, service) == HealthCheckResponse.NOT_SERVING


def test_a_service_that_it_has_not_is_not_found(channel: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        check(channel, "other")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def test_who_watches_is_told_of_the_end(channel: Any, health: HealthService) -> None:
    data = HealthCheckRequest().SerializeToString()
    statuses = channel.unary_stream("/grpc.health.v1.Health/Watch", None, HealthCheckResponse.FromString)(data, timeout=20)
    assert next(statuses).status == HealthCheckResponse.SERVING
    health.stop_serving()
    assert next(statuses).status == HealthCheckResponse.NOT_SERVING
    statuses.cancel()


def test_probes_are_answered_in_plain_text_on_a_port_of_their_own(health: HealthService) -> None:
    [port] = free_ports(1)
    stop = health.serve_probes({PORT_VARIABLE: str(port)})
    with grpc.insecure_channel(f"127.0.0.1:{port}") as probe:
        assert check(probe, "") == HealthCheckResponse.SERVING
        health.stop_serving()
        assert check(probe, "") == HealthCheckResponse.NOT_SERVING
    stop()


def test_what_is_no_port_for_probes_is_refused(health: HealthService) -> None:
    assert health.serve_probes({})() is None
    with pytest.raises(InvalidArgumentError, match="WEFT_HEALTH_PORT should be a port, and is 'x'"):
        health.serve_probes({PORT_VARIABLE: "x"})

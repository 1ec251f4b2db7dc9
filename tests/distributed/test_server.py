"""A server serves from its start until its stop, and holds its port that long."""

from __future__ import annotations

import grpc
import pytest

from weft.distributed.grpc_options import open_channel
from weft.distributed.server import Server
from weft.errors import UnknownError
from weft.proto.health_pb2 import HealthCheckRequest, HealthCheckResponse


def address(server: Server) -> str:
    return server.target.removeprefix("grpc://")


@pytest.mark.parametrize("start", [True, False])
def test_a_server_that_was_stopped_has_freed_its_port(start: bool) -> None:
    first = Server({"a": ["localhost:0"]}, start=start)
    first.stop()
    with Server({"a": [address(first)]}) as second:
        assert second.target == first.target


@pytest.mark.parametrize("start", [True, False])
def test_a_port_that_a_server_has_is_refused_to_another(start: bool) -> None:
    with (
        Server({"a": ["localhost:0"]}, start=start) as first,
        pytest.raises(UnknownError, match=address(first).rpartition(":")[2]),
    ):
        Server({"a": [address(first)]})


@pytest.mark.parametrize("service", ["", "tensorflow.MasterService", "weft.WorkerService"])
def test_probes_see_that_a_server_serves(service: str) -> None:
    with Server({"a": ["localhost:0"]}) as server, open_channel(address(server)) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        data = check(HealthCheckRequest(service=service).SerializeToString(), timeout=20)
        assert HealthCheckResponse.FromString(data).status == HealthCheckResponse.SERVING


def test_bytes_that_are_no_request_do_not_stop_a_server() -> None:
    with Server({"a": ["localhost:0"]}) as server, open_channel(address(server)) as channel:
        with pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary("/tensorflow.MasterService/CreateSession")(b"\xff" * 100, timeout=20)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        channel.unary_unary("/tensorflow.MasterService/ListDevices")(b"", timeout=20)

"""Asking a server who it is, by its address alone."""

from __future__ import annotations

from dataclasses import dataclass

from weft.distributed.rpc.stub import RpcStub
from weft.distributed.worker.worker_service import METHODS, SERVICE
from weft.proto import worker_pb2


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server's task and the names of its devices."""

    task: str
    devices: tuple[str, ...]


def server_status(address: str, timeout_s: float) -> ServerStatus:
    """Ask the server at `host:port`.

    Raises:
        UnavailableError: no server of weft talks there. PermissionDeniedError: it does not take this caller's word.
        DeadlineExceededError: it does not answer in time.
    """
    stub = RpcStub(SERVICE, METHODS, address, "The server")
    try:
        response = stub.call("GetStatus", worker_pb2.GetStatusRequest(), timeout_s)
    finally:
        stub.close()
    return ServerStatus(response.task, tuple(device.name for device in response.device_attributes))

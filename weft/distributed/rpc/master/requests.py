"""Requests to a master by clients that have no session there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from weft.distributed.rpc.master.methods import METHODS, SERVICE
from weft.distributed.rpc.stub import RpcStub
from weft.errors import DeadlineExceededError, OpError, UnavailableError
from weft.proto import master_pb2

_PAUSE_S: Final = 0.05


def reset_containers(target: str, containers: Sequence[str], timeout_s: float | None) -> None:
    """Ask the master at `host:port` to drop containers in its whole cluster."""
    stub = RpcStub(SERVICE, METHODS, target, "The master")
    try:
        stub.wait_until_reachable(timeout_s, lambda: None)
        stub.call("Reset", master_pb2.ResetRequest(container=containers), timeout_s)
    finally:
        stub.close()


def wait_until_serving(address: str, check: Callable[[], None]) -> None:
    """Block until the server at `host:port` answers; `check` is called about every second, and ends the wait by raising."""
    stub = RpcStub(SERVICE, METHODS, address, "The server")
    try:
        while True:
            check()
            try:
                stub.call("ListDevices", master_pb2.ListDevicesRequest(session_handle="none"), 1.0)
                return
            except (UnavailableError, DeadlineExceededError):
                # Nobody listens there yet: a process that begins needs the processor more than the question does.
                time.sleep(_PAUSE_S)
            except OpError:
                return
    finally:
        stub.close()

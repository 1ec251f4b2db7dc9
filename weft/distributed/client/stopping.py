"""Stopping a server from afar: the service that takes the request, and the caller that waits for the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from google.protobuf.wrappers_pb2 import DoubleValue, StringValue
from grpc import GenericRpcHandler, ServicerContext

from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.stub import RpcStub, method_handlers
from weft.errors import AbortedError, CancelledError, DeadlineExceededError, UnavailableError

SERVICE: Final = "weft.StopService"
_METHODS: Final = {"Stop": (DoubleValue, StringValue)}
_CALL_S: Final = 5.0
_LOOK_S: Final = 0.1


class StopService:
    """Has a server stopped by whom its gate admits.

    Args:
        task: the server's task.
        stop: drains for so many seconds at most, and stops; blocks until then.
        gate: judges the callers.
    """

    def __init__(self, task: str, stop: Callable[[float], None], gate: Gate) -> None:
        self._task = task
        self._stop = stop
        self._gate = gate

    def handler(self) -> GenericRpcHandler:
        """The gRPC handler to add to a server."""
        return method_handlers(SERVICE, _METHODS, self, self._gate)

    def Stop(self, request: DoubleValue, context: ServicerContext) -> StringValue:
        """Begin to stop; answers with the task's name, before the end."""
        threading.Thread(target=self._stop, args=(max(request.value, 0.0),), name=f"weft-stop-{self._task}").start()
        return StringValue(value=self._task)


def stop_server(address: str, grace_s: float, timeout_s: float = 10.0) -> str:
    """Stop the server at `host:port` and wait until it is gone; returns its task.

    Args:
        address: where it listens.
        grace_s: how long its running steps may take to end.
        timeout_s: how long it may take beyond that.

    Raises:
        UnavailableError: there is no server. PermissionDeniedError: it does not take this caller's word.
        DeadlineExceededError: it is still there.
    """
    stub = RpcStub(SERVICE, _METHODS, address, f"The server at {address}")
    try:
        task = str(stub.call("Stop", DoubleValue(value=grace_s), _CALL_S).value)
        deadline_s = time.monotonic() + grace_s + timeout_s
        while time.monotonic() < deadline_s:
            try:
                # A second request changes nothing: the first grace counts.
                stub.call("Stop", DoubleValue(value=grace_s), _CALL_S)
            except (UnavailableError, CancelledError, AbortedError, DeadlineExceededError):
                return task
            threading.Event().wait(_LOOK_S)
    finally:
        stub.close()
    raise DeadlineExceededError.of(f"{task} at {address} was told to stop {grace_s + timeout_s:.0f} s ago and still answers")

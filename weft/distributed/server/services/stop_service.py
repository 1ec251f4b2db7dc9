"""StopService: the end of a server at the request of somebody elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Callable

from google.protobuf.wrappers_pb2 import DoubleValue, StringValue

from weft.distributed.client.stopping import METHODS, SERVICE
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.stub import method_handlers
from weft.platform.imports.grpc_modules import grpc


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

    def handler(self) -> grpc.GenericRpcHandler:
        """The gRPC handler to add to a server."""
        return method_handlers(SERVICE, METHODS, self, self._gate)

    def Stop(self, request: DoubleValue, context: grpc.ServicerContext) -> StringValue:
        """Begin to stop; answers with the task's name, before the end."""
        threading.Thread(target=self._stop, args=(max(request.value, 0.0),), name=f"weft-stop-{self._task}").start()
        return StringValue(value=self._task)

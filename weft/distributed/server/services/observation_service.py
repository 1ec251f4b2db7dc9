"""ObservationService: how a server is, for whom its gate admits."""

from __future__ import annotations

import time

from google.protobuf.wrappers_pb2 import DoubleValue, StringValue

from weft.distributed.client.observation.observing import METHODS, SERVICE
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.stub import method_handlers
from weft.distributed.server.observation.observed import Observed
from weft.platform.imports.grpc_modules import grpc


class ObservationService:
    """Answers `weft watch`, `weft top` and their like.

    Args:
        observed: what makes the server visible.
        gate: judges the callers.
    """

    def __init__(self, observed: Observed, gate: Gate) -> None:
        self._observed = observed
        self._gate = gate

    def handler(self) -> grpc.GenericRpcHandler:
        """The gRPC handler to add to a server."""
        return method_handlers(SERVICE, METHODS, self, self._gate)

    def Report(self, request: StringValue, context: grpc.ServicerContext) -> StringValue:
        """A report, as JSON."""
        return StringValue(value=self._observed.reporter.report().as_json())

    def Clock(self, request: StringValue, context: grpc.ServicerContext) -> DoubleValue:
        """What time it is here, in seconds since the epoch."""
        return DoubleValue(value=time.time())

    def BeginRecording(self, request: DoubleValue, context: grpc.ServicerContext) -> StringValue:
        """Record steps, for so many seconds at most."""
        self._observed.recorder.begin(request.value)
        return StringValue()

    def EndRecording(self, request: StringValue, context: grpc.ServicerContext) -> StringValue:
        """What was recorded, as JSON."""
        return StringValue(value=self._observed.recorder.end())

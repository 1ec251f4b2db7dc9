"""ObservationService: how a server is, for whom its gate admits."""

from __future__ import annotations

import time

from google.protobuf.wrappers_pb2 import DoubleValue, StringValue
from grpc import GenericRpcHandler, ServicerContext

from weft.distributed.client.observation.observing import METHODS, SERVICE
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.stub import method_handlers
from weft.distributed.server.observation.observed import Observed


class ObservationService:
    """Answers `weft watch`, `weft top` and their like.

    Args:
        observed: what makes the server visible.
        gate: judges the callers.
    """

    def __init__(self, observed: Observed, gate: Gate) -> None:
        self._observed = observed
        self._gate = gate

    def handler(self) -> GenericRpcHandler:
        """The gRPC handler to add to a server."""
        return method_handlers(SERVICE, METHODS, self, self._gate)

    def Report(self, request: StringValue, context: ServicerContext) -> StringValue:
        """A report, as JSON."""
        return StringValue(value=self._observed.reporter.report().as_json())

    def Clock(self, request: StringValue, context: ServicerContext) -> DoubleValue:
        """What time it is here, in seconds since the epoch."""
        return DoubleValue(value=time.time())

    def BeginRecording(self, request: DoubleValue, context: ServicerContext) -> StringValue:
        """Record steps, for so many seconds at most."""
        self._observed.recorder.begin(request.value)
        return StringValue()

    def EndRecording(self, request: StringValue, context: ServicerContext) -> StringValue:
        """What was recorded, as JSON."""
        return StringValue(value=self._observed.recorder.end())

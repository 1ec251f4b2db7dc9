"""ObservationService: how a server is, for whom its gate admits."""

from __future__ import annotations

from google.protobuf.wrappers_pb2 import StringValue
from grpc import GenericRpcHandler, ServicerContext

from weft.distributed.client.observing import METHODS, SERVICE
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.stub import method_handlers
from weft.distributed.server.observation.reporter import Reporter


class ObservationService:
    """Answers `weft watch`, `weft top` and their like.

    Args:
        reporter: of the server.
        gate: judges the callers.
    """

    def __init__(self, reporter: Reporter, gate: Gate) -> None:
        self._reporter = reporter
        self._gate = gate

    def handler(self) -> GenericRpcHandler:
        """The gRPC handler to add to a server."""
        return method_handlers(SERVICE, METHODS, self, self._gate)

    def Report(self, request: StringValue, context: ServicerContext) -> StringValue:
        """A report, as JSON."""
        return StringValue(value=self._reporter.report().as_json())

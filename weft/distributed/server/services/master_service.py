"""The master service: sessions by gRPC, in TensorFlow's wire format, so that its clients are served too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from weft.distributed.master.served_sessions import ServedSession, ServedSessions
from weft.distributed.master.steps.step_plan import StepPlan
from weft.distributed.rpc import stage_reports
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.master.methods import METHODS, SERVICE, SESSION_KEY, WEFT_CLIENT
from weft.distributed.rpc.status import text_with_node
from weft.distributed.rpc.stub import method_handlers
from weft.distributed.worker.worker_service import ChannelHost, device_proto
from weft.errors import CancelledError, OpError
from weft.framework.building.aliases import Array
from weft.framework.types.tensor_util import make_ndarray, make_tensor_proto
from weft.platform.imports.grpc_modules import grpc
from weft.proto import explain_pb2, master_pb2


class MasterService:
    """Handles the requests of clients. Every method takes a request and returns a response, or raises."""

    def __init__(self, sessions: ServedSessions, channel: ChannelHost, gate: Gate) -> None:
        self._sessions = sessions
        self._channel = channel
        self._gate = gate

    def handler(self) -> grpc.GenericRpcHandler:
        """The gRPC handler to add to a server."""
        return method_handlers(SERVICE, METHODS, self, self._gate)

    def CreateSession(
        self, request: master_pb2.CreateSessionRequest, context: grpc.ServicerContext
    ) -> master_pb2.CreateSessionResponse:
        """Open a session; answers when all tasks are there, or the caller gave up."""

        def raise_if_cancelled() -> None:
            if not context.is_active():
                raise CancelledError.of("The client gave the session up while the master waited for its cluster")

        config = request.config if request.HasField("config") else None
        by_tensorflow = WEFT_CLIENT not in dict(context.invocation_metadata())
        handle, version = self._sessions.create(request.graph_def, config, raise_if_cancelled, context.peer(), by_tensorflow)
        return master_pb2.CreateSessionResponse(
            session_handle=handle, graph_version=version, channel=self._channel.admission("", handle)
        )

    def _called(self, handle: str, context: grpc.ServicerContext) -> AbstractContextManager[ServedSession]:
        """The session of a call, while it is answered; see `ServedSessions.called`."""
        return self._sessions.called(handle, context.peer(), _key(context))

    def ExtendSession(
        self, request: master_pb2.ExtendSessionRequest, context: grpc.ServicerContext
    ) -> master_pb2.ExtendSessionResponse:
        """Add nodes to a session's graph."""
        with self._called(request.session_handle, context) as served:
            version = served.extend(request.graph_def, request.current_graph_version)
        return master_pb2.ExtendSessionResponse(new_graph_version=version)

    def RunStep(self, request: master_pb2.RunStepRequest, context: grpc.ServicerContext) -> master_pb2.RunStepResponse:
        """Run a step whose values come and go in the request and response."""
        with self._called(request.session_handle, context) as served:
            if request.partial_run_handle:
                fed = {feed.name: make_ndarray(feed.tensor) for feed in request.feed}
                return _response(request.fetch, served.run_piece(request.partial_run_handle, fed, list(request.fetch)))
            return _run_step(served, request, context)

    def PartialRunSetup(
        self, request: master_pb2.PartialRunSetupRequest, context: grpc.ServicerContext
    ) -> master_pb2.PartialRunSetupResponse:
        """Begin a run in pieces, which RunStep then runs."""
        with self._called(request.session_handle, context) as served:
            handle = served.begin_partial(list(request.feed), list(request.fetch), list(request.target))
        return master_pb2.PartialRunSetupResponse(partial_run_handle=handle)

    def CloseSession(
        self, request: master_pb2.CloseSessionRequest, context: grpc.ServicerContext
    ) -> master_pb2.CloseSessionResponse:
        """End a session."""
        self._sessions.close_for(request.session_handle, _key(context))
        return master_pb2.CloseSessionResponse()

    def ResumeSession(
        self, request: master_pb2.CloseSessionRequest, context: grpc.ServicerContext
    ) -> master_pb2.CreateSessionResponse:
        """Admit another connection of the client that has a session, whose last one was cut; the request names the session."""
        with self._called(request.session_handle, context) as served:
            return master_pb2.CreateSessionResponse(
                session_handle=request.session_handle,
                graph_version=served.graph_version,
                channel=self._channel.admission("", request.session_handle),
            )

    def ListDevices(
        self, request: master_pb2.ListDevicesRequest, context: grpc.ServicerContext
    ) -> master_pb2.ListDevicesResponse:
        """The devices of a session, or of the whole cluster; this task's own are the local ones."""
        master = self._sessions.master
        if request.session_handle:
            with self._called(request.session_handle, context) as served:
                devices = served.session.list_devices()
        else:
            devices = [device for status in master.devices().values() for device in status.devices]
        response = master_pb2.ListDevicesResponse()
        for device in devices:
            is_local = device.name.startswith(master.task + "/")
            (response.local_device if is_local else response.remote_device).append(device_proto(device))
        return response

    def Reset(self, request: master_pb2.ResetRequest, context: grpc.ServicerContext) -> master_pb2.ResetResponse:
        """Drop containers in the whole cluster."""
        self._sessions.master.reset(list(request.container), list(request.device_filters))
        return master_pb2.ResetResponse()

    def MakeCallable(
        self, request: master_pb2.MakeCallableRequest, context: grpc.ServicerContext
    ) -> master_pb2.MakeCallableResponse:
        """Prepare a run."""
        options = request.options
        with self._called(request.session_handle, context) as served:
            number = served.make_callable(list(options.feed), list(options.fetch), list(options.target), options.run_options)
        if not context.is_active():
            # Ctrl-C while it was prepared: nobody will learn its number.
            served.release_callable(number)
        return master_pb2.MakeCallableResponse(handle=number)

    def RunCallable(
        self, request: master_pb2.RunCallableRequest, context: grpc.ServicerContext
    ) -> master_pb2.RunCallableResponse:
        """Run a prepared run whose values come and go in the request and response."""
        with self._called(request.session_handle, context) as served:
            plan, options = served.callable(request.handle)
            values, metadata = _run(plan, [make_ndarray(feed) for feed in request.feed], options, context)
        fetched = [make_tensor_proto(np.asarray(value)) for value in values]
        return master_pb2.RunCallableResponse(fetch=fetched, metadata=metadata)

    def ExplainCallable(
        self, request: explain_pb2.ExplainCallableRequest, context: grpc.ServicerContext
    ) -> explain_pb2.ExplainCallableResponse:
        """What the stages of a prepared run tell about themselves."""
        with self._called(request.session_handle, context) as served:
            plan, _ = served.callable(request.handle)
            reports = plan.explain()
        return explain_pb2.ExplainCallableResponse(stages=stage_reports.encode(reports))

    def ReleaseCallable(
        self, request: master_pb2.ReleaseCallableRequest, context: grpc.ServicerContext
    ) -> master_pb2.ReleaseCallableResponse:
        """Forget a prepared run."""
        with self._called(request.session_handle, context) as served:
            served.release_callable(request.handle)
        return master_pb2.ReleaseCallableResponse()


def _run_step(
    served: ServedSession, request: master_pb2.RunStepRequest, context: grpc.ServicerContext
) -> master_pb2.RunStepResponse:
    plan = served.plan([feed.name for feed in request.feed], list(request.fetch), list(request.target))
    try:
        values, metadata = _run(plan, [make_ndarray(feed.tensor) for feed in request.feed], request.options, context)
    except OpError as error:
        if not request.store_errors_in_response_body:
            raise
        response = master_pb2.RunStepResponse()
        response.status_code = error.error_code
        response.status_error_message = text_with_node(error)
        return response
    response = _response(request.fetch, values)
    if metadata is not None:
        response.metadata.CopyFrom(metadata)
    return response


def _key(context: grpc.ServicerContext) -> bytes:
    """The session's key that a call shows, if any."""
    found = dict(context.invocation_metadata()).get(SESSION_KEY, b"")
    return found if isinstance(found, bytes) else b""


def _response(names: Sequence[str], values: Sequence[Array]) -> master_pb2.RunStepResponse:
    response = master_pb2.RunStepResponse()
    for name, value in zip(names, values, strict=True):
        response.tensor.add(name=name).tensor.CopyFrom(make_tensor_proto(np.asarray(value)))
    return response


def _run(
    plan: StepPlan, feeds: list[Array], options: RunOptions, context: grpc.ServicerContext
) -> tuple[list[Array], RunMetadata | None]:
    """Run a step, which ends when the client's call does: given up, past its deadline, or with the client gone."""
    if plan.runs_inline:
        return plan.run(feeds, options)
    step = plan.new_step()

    def call_is_over() -> None:
        step.cancel(CancelledError.of("The client gave the step up, or is gone"))

    if not context.add_callback(call_is_over):
        call_is_over()
    return plan.run(feeds, options, step)

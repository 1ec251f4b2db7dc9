"""The worker service: gRPC in front of a task's worker, and the stub by which masters call it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from google.protobuf.message import Message
from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.credentials.credentials import CLIENT, task_identity
from weft.distributed.rpc import stage_reports
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.stub import RpcStub, method_handlers
from weft.distributed.worker import partition_codec
from weft.distributed.worker.network.peer_connections import Admission
from weft.distributed.worker.session_owners import SessionOwners
from weft.distributed.worker.task_status import TaskStatus
from weft.errors import AbortedError, InvalidArgumentError, OpError, PermissionDeniedError
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.devices.device_spec import DeviceSpec
from weft.passes.partition import Partition
from weft.platform.imports.grpc_modules import grpc
from weft.proto import explain_pb2, master_pb2, worker_pb2
from weft.proto.device_attributes_pb2 import DeviceAttributes as DeviceAttributesProto
from weft.protocol.heartbeat import TIMEOUT_S, Evidence
from weft.runtime.choice.stage_report import StageReport
from weft.runtime.state.session_table import master_of
from weft.runtime.worker import Worker

SERVICE: Final = "weft.WorkerService"
METHODS: Final = {
    "GetStatus": (worker_pb2.GetStatusRequest, worker_pb2.GetStatusResponse),
    "OpenChannel": (worker_pb2.OpenChannelRequest, worker_pb2.OpenChannelResponse),
    "RegisterGraph": (worker_pb2.RegisterGraphRequest, worker_pb2.RegisterGraphResponse),
    "DeregisterGraph": (worker_pb2.DeregisterGraphRequest, worker_pb2.DeregisterGraphResponse),
    "DeleteWorkerSession": (worker_pb2.DeleteWorkerSessionRequest, worker_pb2.DeleteWorkerSessionResponse),
    "ExplainGraph": (explain_pb2.ExplainGraphRequest, explain_pb2.ExplainGraphResponse),
    "Announce": (worker_pb2.AnnounceRequest, worker_pb2.AnnounceResponse),
    "CleanupAll": (worker_pb2.CleanupAllRequest, worker_pb2.CleanupAllResponse),
}


class ChannelHost(Protocol):
    """What admits peers to a task's tensor channel."""

    def admission(self, sender: str, session_handle: str = "") -> master_pb2.ChannelAdmission:
        """The addresses, and a token for one connection, of that task or, for "", of the client of a session."""
        ...


def identity_of(task: str) -> str:
    """The name in the certificate of a task such as "/job:ps/replica:0/task:0"; a client's for "".

    Raises:
        InvalidArgumentError: that is no task's name.
    """
    if not task:
        return CLIENT
    try:
        spec = DeviceSpec.from_string(task)
    except ValueError:
        raise InvalidArgumentError.of(f"{task!r} is no task's name; expected such as '/job:ps/replica:0/task:0'") from None
    return task_identity(spec.job or "", spec.task or 0)


def device_proto(device: DeviceAttributes) -> DeviceAttributesProto:
    """The proto of a device's attributes."""
    return DeviceAttributesProto(
        name=device.name,
        device_type=device.device_type,
        memory_limit=device.memory_limit_bytes,
        incarnation=device.incarnation,
    )


class WorkerService:
    """Handles the requests of masters and peers. Every method takes a request and returns a response, or raises."""

    def __init__(
        self,
        worker: Worker,
        channel: ChannelHost,
        gate: Gate,
        owners: SessionOwners,
        hear: Callable[[str, str, int], None] | None = None,
    ) -> None:
        self._hear = hear
        self._worker = worker
        self._channel = channel
        self._gate = gate
        self._owners = owners

    def handler(self) -> grpc.GenericRpcHandler:
        """The gRPC handler to add to a server."""
        return method_handlers(SERVICE, METHODS, self, self._gate)

    def _check_task(self, wanted: str) -> None:
        if wanted and wanted != self._worker.task:
            raise AbortedError.of(
                f"This is {self._worker.task}, not {wanted}: the cluster spec of the caller gives this "
                "address to another task than the one that was started here"
            )

    def _check_master(self, session_handle: str, context: grpc.ServicerContext) -> None:
        """Let only the master that has a session change it, whoever else knows its handle."""
        master, caller = master_of(session_handle), self._gate.check(context)
        if caller.identities and not caller.may_be(identity_of(master)):
            raise PermissionDeniedError.of(
                f"The caller's certificate is not that of {master or 'a master'}, which has the session {session_handle}"
            )

    def GetStatus(self, request: worker_pb2.GetStatusRequest, context: grpc.ServicerContext) -> worker_pb2.GetStatusResponse:
        """Who this is and which devices it has."""
        self._check_task(request.task)
        worker = self._worker
        devices = [device_proto(DeviceAttributes(name, 0, worker.incarnation)) for name in worker.devices]
        return worker_pb2.GetStatusResponse(device_attributes=devices, task=worker.task, incarnation=worker.incarnation)

    def OpenChannel(
        self, request: worker_pb2.OpenChannelRequest, context: grpc.ServicerContext
    ) -> worker_pb2.OpenChannelResponse:
        """Admit a peer to the tensor channel, as the task that it is and no other."""
        self._check_task(request.task)
        if not self._gate.check(context).may_be(identity_of(request.peer)):
            raise PermissionDeniedError.of(
                f"The caller's certificate is not that of {request.peer}, as whom it asks for a channel with "
                f"{self._worker.task}"
            )
        return worker_pb2.OpenChannelResponse(channel=self._channel.admission(request.peer))

    def Announce(self, request: worker_pb2.AnnounceRequest, context: grpc.ServicerContext) -> worker_pb2.AnnounceResponse:
        """Hear where a peer is now, of that peer itself."""
        task = request.task
        if not self._gate.check(context).may_be(identity_of(task)):
            raise PermissionDeniedError.of(f"The caller's certificate is not that of {task}, as which it announces itself")
        if self._hear is not None:
            self._hear(task, request.address, request.incarnation)
        return worker_pb2.AnnounceResponse()

    def RegisterGraph(
        self, request: worker_pb2.RegisterGraphRequest, context: grpc.ServicerContext
    ) -> worker_pb2.RegisterGraphResponse:
        """Register a partition for a session, which begins with its first graph."""
        worker = self._worker
        if request.incarnation and request.incarnation != worker.incarnation:
            raise AbortedError.of(
                f"{worker.task} was restarted: its incarnation is {worker.incarnation:x}, not {request.incarnation:x}"
            )
        self._check_master(request.session_handle, context)
        worker.sessions.create(request.session_handle, request.config, request.config.isolate_session_state)
        self._owners.note(request.session_handle)
        partition = partition_codec.decode(request.graph_def, worker.task, list(request.fetch))
        return worker_pb2.RegisterGraphResponse(graph_handle=worker.register(request.session_handle, partition))

    def DeregisterGraph(
        self, request: worker_pb2.DeregisterGraphRequest, context: grpc.ServicerContext
    ) -> worker_pb2.DeregisterGraphResponse:
        """Forget a graph."""
        self._worker.deregister(request.graph_handle)
        return worker_pb2.DeregisterGraphResponse()

    def ExplainGraph(
        self, request: explain_pb2.ExplainGraphRequest, context: grpc.ServicerContext
    ) -> explain_pb2.ExplainGraphResponse:
        """What the stages of a graph tell about themselves."""
        reports = self._worker.executor(request.graph_handle).explain()
        return explain_pb2.ExplainGraphResponse(stages=stage_reports.encode(reports))

    def DeleteWorkerSession(
        self, request: worker_pb2.DeleteWorkerSessionRequest, context: grpc.ServicerContext
    ) -> worker_pb2.DeleteWorkerSessionResponse:
        """Forget a session."""
        self._check_master(request.session_handle, context)
        self._worker.close_session(request.session_handle)
        return worker_pb2.DeleteWorkerSessionResponse()

    def CleanupAll(self, request: worker_pb2.CleanupAllRequest, context: grpc.ServicerContext) -> worker_pb2.CleanupAllResponse:
        """Drop containers."""
        self._worker.resources.clear(list(request.container))
        return worker_pb2.CleanupAllResponse()


class WorkerStub:
    """A worker elsewhere, as masters and peers call it.

    Args:
        task: the worker's task.
        address: `host:port`.
        caller: the task that calls.
        heartbeat_timeout_s: how soon calls fail when the worker's process stands still; None for never.
    """

    def __init__(self, task: str, address: str, caller: str, heartbeat_timeout_s: float | None = TIMEOUT_S) -> None:
        self.task = task
        self._caller = caller
        self._rpc = RpcStub(
            SERVICE, METHODS, address, f"Task {task}", identity_of(caller), identity_of(task), heartbeat_timeout_s
        )

    def probe(self, timeout_s: float) -> Evidence:
        """Ask whether its process lives; blocks for so long at most."""
        return self._rpc.probe(timeout_s)

    def status(self, timeout_s: float) -> TaskStatus:
        """Ask who it is and which devices it has."""
        response = self._rpc.call("GetStatus", worker_pb2.GetStatusRequest(task=self.task), timeout_s)
        devices = tuple(DeviceAttributes(d.name, d.memory_limit, d.incarnation) for d in response.device_attributes)
        return TaskStatus(devices, response.incarnation)

    def announce(self, address: str, incarnation: int, timeout_s: float) -> None:
        """Tell it where the task that calls is."""
        request = worker_pb2.AnnounceRequest(task=self._caller, address=address, incarnation=incarnation)
        self._rpc.call("Announce", request, timeout_s)

    def move(self, address: str) -> None:
        """Call it at another address from now on."""
        self._rpc.move(address)

    def open_channel(self, peer: str, timeout_s: float) -> Admission:
        """Ask for admission to its tensor channel."""
        response = self._rpc.call("OpenChannel", worker_pb2.OpenChannelRequest(task=self.task, peer=peer), timeout_s)
        return as_admission(response.channel)

    def register_graph(self, session_handle: str, config: ConfigProto, partition: Partition, incarnation: int) -> str:
        """Register a partition; returns its graph handle."""
        request = worker_pb2.RegisterGraphRequest(
            session_handle=session_handle, config=config, graph_def=partition_codec.encode(partition),
            fetch=[tensor.name for tensor in partition.fetches], incarnation=incarnation,
        )  # fmt: skip
        return str(self._rpc.call("RegisterGraph", request).graph_handle)

    def deregister_graph(self, graph_handle: str) -> None:
        """Forget a graph; a task that is gone has forgotten it."""
        self._quietly("DeregisterGraph", worker_pb2.DeregisterGraphRequest(graph_handle=graph_handle))

    def explain_graph(self, graph_handle: str, timeout_s: float) -> list[StageReport]:
        """Ask what the stages of a graph tell about themselves."""
        request = explain_pb2.ExplainGraphRequest(graph_handle=graph_handle)
        return stage_reports.decode(self._rpc.call("ExplainGraph", request, timeout_s).stages)

    def delete_session(self, session_handle: str) -> bool:
        """Forget a session; returns whether the task has answered."""
        return self._quietly("DeleteWorkerSession", worker_pb2.DeleteWorkerSessionRequest(session_handle=session_handle))

    def cleanup_all(self, containers: list[str], timeout_s: float) -> None:
        """Drop containers."""
        self._rpc.call("CleanupAll", worker_pb2.CleanupAllRequest(container=containers), timeout_s)

    def _quietly(self, name: str, request: Message) -> bool:
        try:
            self._rpc.call(name, request, timeout_s=2.0)
        except OpError:
            return False
        return True

    def close(self) -> None:
        """Close the gRPC channel."""
        self._rpc.close()


def as_admission(channel: master_pb2.ChannelAdmission) -> Admission:
    """The plain form of an admission."""
    return Admission(tuple(channel.addresses), channel.token, channel.incarnation)

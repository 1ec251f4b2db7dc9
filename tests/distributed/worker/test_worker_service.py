"""The worker service: masters ask a task who it is, for admission, and register graphs with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from tensorboard.compat.proto import config_pb2

from weft.credentials.credentials import ANY_TASK
from weft.distributed.rpc.gate import Caller, Gate
from weft.distributed.rpc.options import SERVER_OPTIONS
from weft.distributed.rpc.threads import RpcThreads
from weft.distributed.server.binding import bind
from weft.distributed.worker.session_owners import SessionOwners
from weft.distributed.worker.worker_service import WorkerService, WorkerStub, identity_of
from weft.errors import AbortedError, InvalidArgumentError, NotFoundError, PermissionDeniedError, UnavailableError
from weft.framework.graphs.graph import Graph
from weft.ops.array.constant import constant
from weft.passes.partition import Partition, partition
from weft.passes.placer import Placer
from weft.passes.prune import prune
from weft.passes.stage import Staging
from weft.proto import master_pb2, worker_pb2
from weft.runtime.state.resource_manager import ResourceManager
from weft.runtime.worker import Worker

TASK = "/job:w/replica:0/task:1"
CALLER = "/job:w/replica:0/task:2"
DEVICE = f"{TASK}/device:CPU:0"


class FakeChannel:
    def admission(self, sender: str, session_handle: str = "") -> master_pb2.ChannelAdmission:
        return master_pb2.ChannelAdmission(addresses=["unix:x", "h:1"], token=b"secret", task=TASK, incarnation=9)


@pytest.fixture
def worker() -> Worker:
    return Worker(TASK, [DEVICE], 9, ResourceManager("w"))


@pytest.fixture
def address(worker: Worker) -> Iterator[str]:
    server: Any = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    owners = SessionOwners(worker, lambda task: 0, 600)
    server.add_generic_rpc_handlers(
        (WorkerService(worker, FakeChannel(), Gate(["127.0.0.1", "::1"], 0, is_open=True), owners).handler(),)
    )
    port = bind(server, "localhost:0")
    server.start()
    yield f"localhost:{port}"
    server.stop(None).wait()


@pytest.fixture
def stub(address: str) -> Iterator[WorkerStub]:
    made = WorkerStub(TASK, address, CALLER)
    yield made
    made.close()


def a_partition() -> Partition:
    with Graph().as_default():
        fetched = constant([1.0, 2.0])
    ops = prune([fetched], [], [])
    placement = Placer([DEVICE]).place(ops)
    return partition(ops, placement, Staging(ops, placement, []), [], [fetched])[TASK]


def test_a_task_says_which_devices_and_incarnation_it_has(stub: WorkerStub) -> None:
    status = stub.status(20)
    assert status.incarnation == 9
    assert [(device.name, device.device_type, device.incarnation) for device in status.devices] == [(DEVICE, "CPU", 9)]


def test_another_task_at_the_address_refuses(address: str) -> None:
    stub = WorkerStub("/job:ps/replica:0/task:0", address, CALLER)
    with pytest.raises(AbortedError, match=f"This is {TASK}, not /job:ps/replica:0/task:0"):
        stub.status(20)
    with pytest.raises(AbortedError, match=f"This is {TASK}"):
        stub.open_channel("/job:w/replica:0/task:2", 20)
    stub.close()


def test_a_peer_is_admitted_to_the_channel(stub: WorkerStub) -> None:
    admission = stub.open_channel("/job:w/replica:0/task:2", 20)
    assert (admission.addresses, admission.token, admission.incarnation) == (("unix:x", "h:1"), b"secret", 9)


def test_a_graph_is_registered_and_forgotten(stub: WorkerStub, worker: Worker) -> None:
    handle = stub.register_graph("session", config_pb2.ConfigProto(), a_partition(), 9)
    assert worker.executor(handle) is not None
    stub.deregister_graph(handle)
    with pytest.raises(AbortedError, match=handle):
        worker.executor(handle)


def test_the_end_of_a_session_forgets_its_graphs(stub: WorkerStub, worker: Worker) -> None:
    handle = stub.register_graph("session", config_pb2.ConfigProto(), a_partition(), 9)
    stub.delete_session("session")
    with pytest.raises(AbortedError, match=handle):
        worker.executor(handle)


class StrictGate:
    """Lets everybody in, as the holder of one certificate."""

    def __init__(self, *identities: str) -> None:
        self.caller = Caller(frozenset(identities))

    def check(self, context: object) -> Caller:
        return self.caller


@pytest.mark.parametrize("identity", ["client.weft", "w-1.weft"])
def test_only_the_master_that_has_a_session_changes_it_here(worker: Worker, identity: str) -> None:
    gate: Any = StrictGate(identity, ANY_TASK)
    service = WorkerService(worker, FakeChannel(), gate, SessionOwners(worker, lambda task: 0, 600))
    context: Any = None
    for request, method in (
        (worker_pb2.RegisterGraphRequest(session_handle=f"{CALLER}#1"), service.RegisterGraph),
        (worker_pb2.DeleteWorkerSessionRequest(session_handle=f"{CALLER}#1"), service.DeleteWorkerSession),
    ):
        with pytest.raises(PermissionDeniedError, match=f"certificate is not that of {CALLER}, which has the session"):
            method(request, context)
    own: Any = StrictGate(identity_of(CALLER), ANY_TASK)
    service = WorkerService(worker, FakeChannel(), own, SessionOwners(worker, lambda task: 0, 600))
    service.DeleteWorkerSession(worker_pb2.DeleteWorkerSessionRequest(session_handle=f"{CALLER}#1"), context)


def test_a_task_that_was_restarted_refuses_graphs_for_its_former_self(stub: WorkerStub) -> None:
    with pytest.raises(AbortedError, match="was restarted: its incarnation is 9, not 8"):
        stub.register_graph("session", config_pb2.ConfigProto(), a_partition(), 8)


def test_a_graph_that_cannot_be_read_is_refused(stub: WorkerStub) -> None:
    request = worker_pb2.RegisterGraphRequest(session_handle="session")
    request.graph_def.node.add(name="n", op="Neg", input=["missing"])
    with pytest.raises(InvalidArgumentError, match="missing"):
        stub._rpc.call("RegisterGraph", request, 20)
    request.graph_def.node[0].op = "NoSuchOp"
    with pytest.raises(NotFoundError, match="NoSuchOp"):
        stub._rpc.call("RegisterGraph", request, 20)


@pytest.mark.parametrize("name", ["nobody", "/job:ps/task:x", "{"])
def test_a_caller_of_no_task_is_refused(stub: WorkerStub, name: str) -> None:
    for method, request in (
        ("OpenChannel", worker_pb2.OpenChannelRequest(task=TASK, peer=name)),
        ("Announce", worker_pb2.AnnounceRequest(task=name, address="localhost:5", incarnation=1)),
    ):
        with pytest.raises(InvalidArgumentError, match="is no task's name; expected such as '/job:ps/replica:0/task:0'"):
            stub._rpc.call(method, request, 20)


def test_containers_are_cleared(stub: WorkerStub, worker: Worker) -> None:
    cleared: list[list[str]] = []
    worker.resources.clear = cleared.append  # type: ignore[method-assign, assignment]
    stub.cleanup_all(["a", "b"], 20)
    assert cleared == [["a", "b"]]


def test_who_is_gone_has_forgotten_graphs_and_sessions_already() -> None:
    server: Any = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    port = bind(server, "localhost:0")
    server.start()
    server.stop(None).wait()
    stub = WorkerStub(TASK, f"localhost:{port}", CALLER)
    stub.deregister_graph("g")
    stub.delete_session("s")
    with pytest.raises(UnavailableError, match=f"Task {TASK} at localhost:{port} is unavailable"):
        stub.status(20)
    stub.close()

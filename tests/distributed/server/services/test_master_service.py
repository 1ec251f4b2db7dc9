"""The master service turns requests into calls of sessions, and their results and errors into responses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2, graph_pb2, node_def_pb2, step_stats_pb2

from weft import errors
from weft.distributed.rpc.gate import Gate
from weft.distributed.rpc.master.methods import METHODS, SERVICE
from weft.distributed.rpc.options import SERVER_OPTIONS
from weft.distributed.rpc.stub import RpcStub
from weft.distributed.rpc.threads import RpcThreads
from weft.distributed.server.binding import bind
from weft.distributed.server.services.master_service import MasterService
from weft.distributed.worker.task_status import TaskStatus
from weft.framework.devices.device_attributes import DeviceAttributes
from weft.framework.types.tensor_util import make_ndarray, make_tensor_proto
from weft.proto import master_pb2

HERE, THERE = "/job:a/replica:0/task:0", "/job:a/replica:0/task:1"


class FakeStep:
    """Takes note of why it is cancelled."""

    def __init__(self) -> None:
        self.reasons: list[errors.OpError] = []
        self.cancelled = threading.Event()

    def cancel(self, error: errors.OpError) -> None:
        self.reasons.append(error)
        self.cancelled.set()


class FakePlan:
    """Returns the feeds, doubled; raises or blocks when it is told to."""

    runs_inline = False

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.blocks = False
        self.entered = threading.Event()
        self.step = FakeStep()
        self.options: Any = None

    @property
    def cancelled(self) -> threading.Event:
        return self.step.cancelled

    def new_step(self) -> FakeStep:
        self.step = FakeStep()
        return self.step

    def run(self, feeds: list[Any], options: Any, step: FakeStep) -> tuple[list[Any], Any]:
        self.options = options
        if self.error is not None:
            raise self.error
        if self.blocks:
            self.entered.set()
            assert step.cancelled.wait(30)
            raise step.reasons[0]
        metadata = config_pb2.RunMetadata(step_stats=step_stats_pb2.StepStats()) if options.trace_level else None
        return [feed * 2 for feed in feeds], metadata


class FakeSessions:
    """Stands for the served sessions, a session and the master at once."""

    def __init__(self) -> None:
        self.master = self.session = self
        self.task = HERE
        self.run = FakePlan()
        self.calls: list[Any] = []
        self.options: Any = None

    def create(
        self, graph_def: Any, config: Any, raise_if_cancelled: Callable[[], None], peer: str, by_tensorflow: bool
    ) -> tuple[str, int]:
        assert peer.startswith("ipv")
        assert by_tensorflow
        raise_if_cancelled()
        self.calls.append(("create", graph_def, config))
        return "handle", 3

    @contextmanager
    def called(self, handle: str, peer: str, key: bytes) -> Iterator[FakeSessions]:
        if handle != "handle":
            raise errors.AbortedError(None, None, f"Session {handle} is not found")
        assert peer.startswith("ipv")
        assert key == b""
        yield self

    def close_for(self, handle: str, key: bytes) -> None:
        self.calls.append(("close", handle))

    def extend(self, graph_def: Any, version: int) -> int:
        self.calls.append(("extend", graph_def))
        return version + len(graph_def.node)

    def plan(self, feeds: list[str], fetches: list[str], targets: list[str]) -> FakePlan:
        self.calls.append(("plan", feeds, fetches, targets))
        return self.run

    def make_callable(self, feeds: list[str], fetches: list[str], targets: list[str], options: Any) -> int:
        self.options = options
        self.calls.append(("make_callable", feeds, fetches, targets))
        return 7

    def callable(self, number: int) -> tuple[FakePlan, Any]:
        assert number == 7
        return self.run, self.options

    def release_callable(self, number: int) -> None:
        self.calls.append(("release_callable", number))

    def list_devices(self) -> list[DeviceAttributes]:
        return [DeviceAttributes(f"{task}/device:CPU:0", 11, 5) for task in (HERE, THERE)]

    def devices(self) -> dict[str, TaskStatus]:
        return {HERE: TaskStatus((self.list_devices()[0],), 5)}

    def reset(self, containers: list[str], filters: list[str]) -> None:
        self.calls.append(("reset", containers, filters))

    def admission(self, sender: str, session_handle: str) -> master_pb2.ChannelAdmission:
        assert (sender, session_handle) == ("", "handle")
        return master_pb2.ChannelAdmission(addresses=["there:1"], token=b"secret", task=HERE, incarnation=5)


@pytest.fixture
def sessions() -> FakeSessions:
    return FakeSessions()


@pytest.fixture
def stub(sessions: FakeSessions) -> Iterator[RpcStub]:
    served: Any = sessions
    server = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    server.add_generic_rpc_handlers((MasterService(served, sessions, Gate(["127.0.0.1", "::1"], 0, is_open=True)).handler(),))
    port = bind(server, "localhost:0")
    server.start()
    made = RpcStub(SERVICE, METHODS, f"localhost:{port}", "The master")
    yield made
    made.close()
    server.stop(None).wait()


def step(*feeds: Any, **fields: Any) -> master_pb2.RunStepRequest:
    named = [master_pb2.NamedTensorProto(name=f"x{i}:0", tensor=make_tensor_proto(value)) for i, value in enumerate(feeds)]
    fetches = [f"y{i}:0" for i in range(len(feeds))]
    return master_pb2.RunStepRequest(session_handle="handle", feed=named, fetch=fetches, target=["t"], **fields)


def test_a_session_is_created_with_its_graph_and_config_and_admitted_to_the_channel(
    stub: RpcStub, sessions: FakeSessions
) -> None:
    graph_def = graph_pb2.GraphDef(node=[node_def_pb2.NodeDef(name="n")])
    config = config_pb2.ConfigProto(operation_timeout_in_ms=5)
    request = master_pb2.CreateSessionRequest(graph_def=graph_def, config=config)
    response = stub.call("CreateSession", request, 20)
    assert (response.session_handle, response.graph_version) == ("handle", 3)
    assert response.channel.token == b"secret"
    assert sessions.calls == [("create", graph_def, config)]


def test_a_session_without_a_config_takes_the_servers(stub: RpcStub, sessions: FakeSessions) -> None:
    stub.call("CreateSession", master_pb2.CreateSessionRequest(), 20)
    assert sessions.calls[0][2] is None


def test_nodes_are_added_to_a_session(stub: RpcStub) -> None:
    graph_def = graph_pb2.GraphDef(node=[node_def_pb2.NodeDef(name="n")])
    request = master_pb2.ExtendSessionRequest(session_handle="handle", graph_def=graph_def, current_graph_version=3)
    assert stub.call("ExtendSession", request, 20).new_graph_version == 4


def test_a_step_takes_its_feeds_and_returns_its_fetches_by_name(stub: RpcStub, sessions: FakeSessions) -> None:
    response = stub.call("RunStep", step([1.5, 2.5], np.int64(4)), 20)
    assert sessions.calls == [("plan", ["x0:0", "x1:0"], ["y0:0", "y1:0"], ["t"])]
    assert [tensor.name for tensor in response.tensor] == ["y0:0", "y1:0"]
    np.testing.assert_array_equal(make_ndarray(response.tensor[0].tensor), np.array([3, 5], np.float32))
    assert make_ndarray(response.tensor[1].tensor) == 8
    assert make_ndarray(response.tensor[1].tensor).dtype == np.int64
    assert not response.HasField("metadata")


def test_a_steps_options_reach_it_and_its_metadata_comes_back(stub: RpcStub, sessions: FakeSessions) -> None:
    options = config_pb2.RunOptions(trace_level=config_pb2.RunOptions.FULL_TRACE, timeout_in_ms=9)
    assert stub.call("RunStep", step(options=options), 20).metadata.HasField("step_stats")
    assert sessions.run.options == options


def test_a_large_tensor_passes(stub: RpcStub) -> None:
    response = stub.call("RunStep", step(np.ones(3_000_000, np.float32)), 60)
    assert make_ndarray(response.tensor[0].tensor).sum() == 6_000_000


def test_a_steps_error_is_the_calls_status(stub: RpcStub, sessions: FakeSessions) -> None:
    sessions.run.error = errors.OutOfRangeError(node_def_pb2.NodeDef(name="dequeue"), None, "the end")
    with pytest.raises(errors.OutOfRangeError) as caught:
        stub.call("RunStep", step(), 20)
    assert (caught.value.message, caught.value.node_def.name) == ("the end", "dequeue")


def test_a_steps_error_is_in_the_response_for_who_wants_it_there_however_long_it_is(
    stub: RpcStub, sessions: FakeSessions
) -> None:
    text = "the end " * 10_000
    sessions.run.error = errors.OutOfRangeError(node_def_pb2.NodeDef(name="dequeue"), None, text)
    response = stub.call("RunStep", step(store_errors_in_response_body=True), 20)
    assert response.status_code == errors.OUT_OF_RANGE
    assert response.status_error_message == text + "\n\t [[{{node dequeue}}]]"


def test_an_unknown_session_is_aborted_also_for_who_wants_errors_in_the_response(stub: RpcStub) -> None:
    with pytest.raises(errors.AbortedError, match="Session other is not found"):
        stub.call("RunStep", master_pb2.RunStepRequest(session_handle="other", store_errors_in_response_body=True), 20)


def test_a_feed_that_cannot_be_decoded_is_refused(stub: RpcStub) -> None:
    request = step([1.0, 2.0])
    request.feed[0].tensor.tensor_content = b"odd"
    with pytest.raises(errors.InvalidArgumentError, match="RunStep"):
        stub.call("RunStep", request, 20)


def test_a_step_whose_caller_gave_up_is_cancelled(stub: RpcStub, sessions: FakeSessions) -> None:
    sessions.run.blocks = True
    with pytest.raises(errors.DeadlineExceededError, match=r"^The master at .* did not answer in time"):
        stub.call("RunStep", step(), 0.5)
    assert sessions.run.cancelled.wait(30)


def test_a_step_whose_caller_is_gone_is_cancelled(stub: RpcStub, sessions: FakeSessions) -> None:
    sessions.run.blocks = True

    def call() -> None:
        with pytest.raises(errors.OpError):
            stub.call("RunStep", step())

    caller = threading.Thread(target=call)
    caller.start()
    assert sessions.run.entered.wait(30)
    stub.close()
    assert sessions.run.cancelled.wait(30)
    caller.join(30)


def test_callables_are_made_run_and_released(stub: RpcStub, sessions: FakeSessions) -> None:
    options = config_pb2.CallableOptions(feed=["x:0"], fetch=["y:0"], target=["t"])
    made = stub.call("MakeCallable", master_pb2.MakeCallableRequest(session_handle="handle", options=options), 20)
    feeds = [make_tensor_proto([b"ab"])]
    sessions.run.run = lambda feeds, options, step: (feeds, None)  # type: ignore[method-assign]
    request = master_pb2.RunCallableRequest(session_handle="handle", handle=made.handle, feed=feeds)
    (fetched,) = stub.call("RunCallable", request, 20).fetch
    assert make_ndarray(fetched).tolist() == [b"ab"]
    stub.call("ReleaseCallable", master_pb2.ReleaseCallableRequest(session_handle="handle", handle=made.handle), 20)
    assert sessions.calls == [("make_callable", ["x:0"], ["y:0"], ["t"]), ("release_callable", 7)]


def test_a_callables_options_reach_each_of_its_calls_and_their_metadata_comes_back(
    stub: RpcStub, sessions: FakeSessions
) -> None:
    options = config_pb2.CallableOptions()
    options.run_options.trace_level = config_pb2.RunOptions.FULL_TRACE
    options.run_options.timeout_in_ms = 9
    made = stub.call("MakeCallable", master_pb2.MakeCallableRequest(session_handle="handle", options=options), 20)
    request = master_pb2.RunCallableRequest(session_handle="handle", handle=made.handle)
    for _ in range(2):
        assert stub.call("RunCallable", request, 20).metadata.HasField("step_stats")
        assert sessions.run.options == options.run_options


def test_devices_of_this_task_are_local_and_the_others_remote(stub: RpcStub) -> None:
    response = stub.call("ListDevices", master_pb2.ListDevicesRequest(session_handle="handle"), 20)
    (local,), (remote,) = response.local_device, response.remote_device
    assert (local.name, local.device_type, local.memory_limit, local.incarnation) == (
        f"{HERE}/device:CPU:0",
        "CPU",
        11,
        5,
    )
    assert remote.name == f"{THERE}/device:CPU:0"


def test_devices_are_listed_without_a_session_too(stub: RpcStub) -> None:
    response = stub.call("ListDevices", master_pb2.ListDevicesRequest(), 20)
    assert [device.name for device in response.local_device] == [f"{HERE}/device:CPU:0"]


def test_containers_are_reset_and_sessions_closed(stub: RpcStub, sessions: FakeSessions) -> None:
    stub.call("Reset", master_pb2.ResetRequest(container=["c"], device_filters=["/job:ps"]), 20)
    stub.call("CloseSession", master_pb2.CloseSessionRequest(session_handle="handle"), 20)
    assert sessions.calls == [("reset", ["c"], ["/job:ps"]), ("close", "handle")]


def test_bytes_that_are_no_request_are_refused(stub: RpcStub) -> None:
    stub.call("ListDevices", master_pb2.ListDevicesRequest(), 20)
    assert stub._channel is not None
    with pytest.raises(grpc.RpcError) as caught:
        stub._channel.grpc.unary_unary(f"/{SERVICE}/RunStep")(b"\xff\xff", timeout=20)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_server_that_is_started_later_is_waited_for() -> None:
    server = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    port = bind(server, "localhost:0")
    server.start()
    server.stop(None).wait()
    stub = RpcStub(SERVICE, METHODS, f"localhost:{port}", "The master")
    with pytest.raises(errors.DeadlineExceededError, match=r"^The master at localhost:\d+ was not reachable within 0.2 s"):
        stub.wait_until_reachable(0.2, lambda: None)
    again = grpc.server(RpcThreads("test"), options=SERVER_OPTIONS)
    bind(again, f"localhost:{port}")
    again.start()
    stub.wait_until_reachable(None, lambda: None)
    stub.close()
    again.stop(None).wait()

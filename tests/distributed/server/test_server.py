"""A server serves from its start until its stop, and holds its port that long."""

from __future__ import annotations

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

import weft as tf
from weft.distributed.rpc.options import open_channel
from weft.distributed.server import server as server_module
from weft.distributed.server.local_cluster import free_addresses
from weft.distributed.server.server import Server
from weft.errors import AbortedError, DeadlineExceededError, FailedPreconditionError, UnavailableError, UnknownError


def address(server: Server) -> str:
    return server.target.removeprefix("grpc://")


@pytest.mark.parametrize("start", [True, False])
def test_a_server_that_was_stopped_has_freed_its_port(start: bool) -> None:
    first = Server({"a": ["localhost:0"]}, start=start)
    first.stop()
    with Server({"a": [address(first)]}) as second:
        assert second.target == first.target


@pytest.mark.parametrize("start", [True, False])
def test_a_port_that_a_server_has_is_refused_to_another(start: bool) -> None:
    with (
        Server({"a": ["localhost:0"]}, start=start) as first,
        pytest.raises(UnknownError, match=address(first).rpartition(":")[2]),
    ):
        Server({"a": [address(first)]})


@pytest.mark.parametrize("service", ["", "tensorflow.MasterService", "weft.WorkerService"])
def test_probes_see_that_a_server_serves(service: str) -> None:
    with Server({"a": ["localhost:0"]}) as server, open_channel(address(server)) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        data = check(HealthCheckRequest(service=service).SerializeToString(), timeout=20)
        assert HealthCheckResponse.FromString(data).status == HealthCheckResponse.SERVING


def test_the_tasks_that_compute_on_a_host_are_counted_to_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    monkeypatch.setattr(server_module.engine_options, "share_cores", counted.append)
    here, there = "localhost:0", "elsewhere.invalid:2222"
    cluster = {"ps": [here, here], "worker": [here, there], "chief": [here]}
    for job in ("worker", "ps"):
        with Server(cluster, job_name=job, task_index=0, start=False):
            pass
    assert counted == [2, 2]


def test_bytes_that_are_no_request_do_not_stop_a_server() -> None:
    with Server({"a": ["localhost:0"]}) as server, open_channel(address(server)) as channel:
        with pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary("/tensorflow.MasterService/CreateSession")(b"\xff" * 100, timeout=20)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        channel.unary_unary("/tensorflow.MasterService/ListDevices")(b"", timeout=20)


def test_the_state_that_outlives_sessions_is_listed() -> None:
    with Server.create_local_server() as server, tf.Graph().as_default(), tf.Session(server.target) as session:
        v = tf.Variable([1.0, 2.0], name="v")
        w = tf.Variable(3, name="w")
        queue = tf.FIFOQueue(3, tf.int32, [], shared_name="jobs")
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1, shared_name="words")
        with tf.container("mine"):
            mine = tf.Variable(5, name="v")
        session.run([v.initializer, queue.enqueue(1), table.insert(["a"], [1]), mine.initializer])
        assert not session.run(tf.is_variable_initialized(w))
        assert [tuple(each) for each in server.list_state() if each.name != "w"] == [
            ("local", "LookupTable", "words", "1 held"),
            ("local", "SharedQueue", "jobs", "1 held"),
            ("local", "VariableSlot", "v", "float32 [2], 8 bytes"),
            ("mine", "VariableSlot", "v_1", "int32 [], 4 bytes"),
        ]
        server.reset(["local"])
        assert [each.container for each in server.list_state()] == ["mine"]


def test_a_session_that_waits_in_vain_tells_of_each_task_why() -> None:
    with Server.create_local_server() as other:
        cluster = {"worker": ["localhost:0", other.target.removeprefix("grpc://"), "no-such-host.invalid:2222"]}
        with Server(cluster, "worker", 0) as server, tf.Graph().as_default():
            config = tf.ConfigProto(operation_timeout_in_ms=4000)
            for through_rpc in (False, True):
                config.rpc_options.use_rpc_for_inprocess_master = through_rpc
                with tf.Session(server.target, config=config) as session, pytest.raises(DeadlineExceededError) as raised:
                    session.run(tf.constant(1))
                _, second, third = raised.value.message.splitlines()[:3]
                assert second.startswith("  /job:worker/replica:0/task:1 at localhost:")
                assert third.startswith("  /job:worker/replica:0/task:2 at no-such-host.invalid:2222: ")
                assert "resolv" in third


def test_a_task_that_comes_when_all_others_have_gone_waits_as_long_as_its_limits_say() -> None:
    here, gone = free_addresses(2)
    limits = tf.train.ServerLimits(absent_task_s=0.2)
    spec = {"ps": [gone], "worker": [here]}
    with tf.train.Server(spec, "worker", 0, limits=limits) as server, tf.Session(server.target) as session:
        one = tf.constant(1)
        with pytest.raises(DeadlineExceededError, match=r"/job:ps/replica:0/task:0 .*\nIt has waited 0.2 s.*come too late"):
            session.run(one)
        # A shorter time is the program's own, which knows what it asked for.
        with pytest.raises(DeadlineExceededError, match=r"/job:ps/replica:0/task:0 ") as caught:
            session.run(one, options=tf.RunOptions(timeout_in_ms=50))
        assert "It has waited" not in caught.value.message


def test_a_restart_is_told_once_even_if_another_session_has_initialized_the_task_since() -> None:
    with Server({"ps": ["localhost:0"]}) as free:
        address = free.target.removeprefix("grpc://")
    cluster = {"ps": [address], "worker": ["localhost:0"]}
    first = Server(cluster, "ps", 0)
    with Server(cluster, "worker", 0) as worker, tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(100, name="v")
            more = v.assign_add(5)
        config = tf.ConfigProto()
        config.rpc_options.use_rpc_for_inprocess_master = True
        with tf.Session(worker.target) as near, tf.Session(worker.target, config=config) as far:
            near.run(v.initializer)
            assert [near.run(more), far.run(more)] == [105, 110]
            first.stop()
            with Server(cluster, "ps", 0), tf.Session(worker.target) as other:
                other.run(v.initializer)
                for session in (near, far):
                    with pytest.raises(AbortedError, match=r"Task /job:ps/replica:0/task:0 was restarted \(incarnation "):
                        session.run(more)
                assert [near.run(more), far.run(more)] == [105, 110]


def test_a_restarted_task_is_told_of_with_both_incarnations(caplog: pytest.LogCaptureFixture) -> None:
    with Server({"ps": ["localhost:0"]}) as free:
        address = free.target.removeprefix("grpc://")
    cluster = {"ps": [address], "worker": ["localhost:0"]}
    first = Server(cluster, "ps", 0)
    with Server(cluster, "worker", 0) as worker, tf.Graph().as_default(), tf.Session(worker.target) as session:
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0, name="v")
        session.run(v.initializer)
        first.stop()
        with pytest.raises((UnavailableError, AbortedError)):
            session.run(v)
        with Server(cluster, "ps", 0) as second:
            with pytest.raises(AbortedError, match="ps/replica:0/task:0 was restarted"):
                session.run(v)
            with pytest.raises(FailedPreconditionError, match="uninitialized value v"):
                session.run(v)
            session.run(v.initializer)
            assert session.run(v) == 1.0
            (told,) = [record.getMessage() for record in caplog.records if "was restarted" in record.getMessage()]
    assert f"/job:ps/replica:0/task:0 was restarted (incarnation {second.incarnation}, before {first.incarnation})" in told


def test_a_server_whose_address_another_task_has_too_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with Server({"a": ["localhost:0"]}) as first:
        shared = address(first)
    with Server({"ps": [shared, "localhost:0"], "worker": [shared, "localhost:0"]}, "worker", 0):
        told = f"The cluster gives the address {shared} of /job:worker/task:0 to /job:ps/task:0 as well: each task needs one"
        assert told in caplog.text


def test_tasks_on_any_free_port_share_no_address(caplog: pytest.LogCaptureFixture) -> None:
    with Server({"ps": ["localhost:0"], "worker": ["localhost:0"]}, "worker", 0):
        assert "gives the address" not in caplog.text

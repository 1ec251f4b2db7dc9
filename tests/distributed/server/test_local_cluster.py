"""Cluster behaviour against real server processes: sharing, placement, death and return of tasks."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import weft as tf
from weft.distributed.server import local_cluster
from weft.distributed.server.local_cluster import LocalCluster
from weft.errors import DeadlineExceededError


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(ps=2, worker=1) as running:
        yield running


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def test_variables_are_shared_by_name_between_sessions_on_different_tasks(cluster: LocalCluster) -> None:
    with tf.device("/job:ps/task:1"):
        variable = tf.Variable(1.0, name="shared")
    increment = variable.assign_add(1.0)
    with tf.Session(cluster.target("ps", 0)) as first, tf.Session(cluster.target("worker", 0)) as second:
        first.run(variable.initializer)
        assert first.run(increment) == 2.0
        assert second.run(variable) == 2.0
        assert second.run(increment) == 3.0
    with tf.Session(cluster.target("ps", 1)) as third:
        assert third.run(variable) == 3.0


def test_a_step_goes_through_several_tasks_and_the_trace_names_them(cluster: LocalCluster) -> None:
    x = tf.placeholder(tf.float32, [4], name="x")
    with tf.device("/job:ps/task:0"):
        a = tf.add(x, 1.0, name="a")
    with tf.device("/job:ps/task:1"):
        b = tf.multiply(a, 2.0, name="b")
    with tf.device("/job:worker/task:0"):
        c = tf.add(a, b, name="c")
    metadata = tf.RunMetadata()
    with tf.Session(cluster.target("worker", 0)) as session:
        for _ in range(8):
            assert session.run(c, {x: [0, 1, 2, 3]}).tolist() == [3, 6, 9, 12]
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(c, {x: [0, 1, 2, 3]}, options=options, run_metadata=metadata)
    ran = {stats.device: [node.node_name for node in stats.node_stats] for stats in metadata.step_stats.dev_stats}
    assert "b" in ran["/job:ps/replica:0/task:1/device:CPU:0"]
    assert ran["/job:worker/replica:0/task:0/device:CPU:0"][0] == "_SOURCE"


def test_a_large_value_arrives_whole(cluster: LocalCluster) -> None:
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(tf.zeros([3_000_000]), name="large")
    with tf.Session(cluster.target("worker", 0)) as session:
        session.run(variable.initializer)
        session.run(variable.assign_add(tf.ones([3_000_000])).op)
        value = session.run(variable)
    assert value.shape == (3_000_000,)
    assert value.min() == value.max() == 1.0


def test_an_object_of_one_task_is_refused_where_it_would_have_to_leave_it(cluster: LocalCluster) -> None:
    with tf.device("/job:worker/task:0"):
        empty = tf.raw_ops.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
        stack = tf.raw_ops.StackV2(max_size=2, elem_type=tf.float32)
        here = tf.raw_ops.TensorListLength(input_handle=empty)
    with tf.device("/job:ps/task:0"):
        elsewhere = tf.raw_ops.TensorListLength(input_handle=empty)
    with tf.Session(cluster.target("worker", 0)) as session:
        for fetch in (empty, stack, elsewhere):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"cannot be sent.*cannot leave its task"):
                session.run(fetch)
        assert session.run(here) == 0
    with tf.Session(cluster.target("ps", 0)) as session:  # whose master asks another task for them
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"cannot be sent.*cannot leave its task"):
            session.run(empty)
        assert session.run(here) == 0


def test_an_uninitialized_variable_is_named_with_the_clients_own_operation(cluster: LocalCluster) -> None:
    with tf.device("/job:ps/task:0"):
        variable = tf.Variable(1.0, name="never")
    with (
        tf.Session(cluster.target("worker", 0)) as session,
        pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value never") as caught,
    ):
        session.run(variable)
    assert caught.value.op is not None
    assert caught.value.op.graph is session.graph


def test_the_default_device_is_the_first_task_for_every_session(cluster: LocalCluster) -> None:
    variable = tf.Variable(5.0, name="unpinned")
    with tf.Session(cluster.target("worker", 0)) as first, tf.Session(cluster.target("ps", 1)) as second:
        first.run(variable.initializer)
        assert second.run(variable) == 5.0


def test_a_task_that_dies_is_named_and_after_its_return_the_next_run_works() -> None:
    with LocalCluster(ps=1, worker=1) as cluster:
        with tf.device("/job:ps/task:0"):
            variable = tf.Variable(1.0, name="v")
        with tf.device("/job:worker/task:0"):
            alone = tf.no_op()
        session = tf.Session(cluster.target("worker", 0))
        session.run(variable.initializer)
        assert session.run(variable) == 1.0
        cluster.kill("ps", 0)
        with pytest.raises((tf.errors.UnavailableError, tf.errors.AbortedError), match="/job:ps/replica:0/task:0"):
            session.run(variable)
        session.run(alone)
        cluster.restart("ps", 0)
        with pytest.raises(tf.errors.AbortedError, match="/job:ps/replica:0/task:0 was restarted"):
            session.run(variable)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            session.run(variable)
        session.run(variable.initializer)
        assert session.run(variable) == 1.0
        session.close()


def test_reset_drops_containers_and_aborts_older_sessions(cluster: LocalCluster) -> None:
    with tf.device("/job:ps/task:0"), tf.container("mine"):
        variable = tf.Variable(1.0, name="contained")
    session = tf.Session(cluster.target("worker", 0))
    session.run(variable.initializer)
    tf.Session.reset(cluster.target("worker", 0), ["mine"])
    with pytest.raises(tf.errors.AbortedError):
        session.run(variable)
    with tf.Session(cluster.target("worker", 0)) as fresh, pytest.raises(tf.errors.FailedPreconditionError):
        fresh.run(variable)


def test_devices_of_all_tasks_are_listed(cluster: LocalCluster) -> None:
    tf.no_op()
    with tf.Session(cluster.target("worker", 0)) as session:
        devices = session.list_devices()
    assert [device.name for device in devices] == [
        "/job:ps/replica:0/task:0/device:CPU:0",
        "/job:ps/replica:0/task:1/device:CPU:0",
        "/job:worker/replica:0/task:0/device:CPU:0",
    ]
    assert all(device.incarnation for device in devices)


def test_a_program_without_the_main_guard_is_told_so_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import weft as tf\nwith tf.LocalCluster(worker=2) as cluster:\n    print(cluster.spec)\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(tf.__file__).parents[1])}
    ran = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, env=environment, timeout=100, check=False
    )
    assert ran.returncode == 1
    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: LocalCluster starts processes that import the program")
    assert 'if __name__ == "__main__":' in last
    assert ran.stderr.count("Traceback") == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells what a process has computed")
def test_a_process_that_stands_still_is_told_from_one_that_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(local_cluster, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    computed = iter([0.1, 0.2, 0.2, 0.2])
    monkeypatch.setattr(local_cluster, "cpu_s", lambda process_id: next(computed))
    process = SimpleNamespace(pid=os.getpid(), exitcode=None)
    begin = local_cluster.Begin("ps:0", process)
    for now_s[0] in (0.0, 100.0, 160.0):
        begin.check()
    now_s[0] = 160.1
    with pytest.raises(
        DeadlineExceededError, match=r"task ps:0, process \d+, does not serve and has computed nothing for 60 s"
    ):
        begin.check()


def test_a_process_that_begins_slowly_is_told_of(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    begin = local_cluster.Begin("ps:0", SimpleNamespace(pid=os.getpid(), exitcode=None))
    now_s = time.monotonic() + 11.0
    monkeypatch.setattr("weft.platform.waits.wait_notice.time", SimpleNamespace(monotonic=lambda: now_s))
    with caplog.at_level(logging.WARNING, "weft"):
        begin.check()
        begin.check()
    assert re.fullmatch(r"LocalCluster still waits for task ps:0 to serve, for 11 s.*", caplog.messages[0])
    assert len(caplog.messages) == 1

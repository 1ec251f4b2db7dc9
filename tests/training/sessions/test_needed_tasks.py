"""needed_tasks: a replica's session waits for parameter servers and itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.training.sessions.needed_tasks import filtered_config, needed_tasks

TASKS = [("chief", 0), ("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("worker", 2)]


def replica(worker_device: str) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device=worker_device)):
            v = tf.Variable(1.0)
            tf.multiply(v, 2.0)
        tf.no_op()
    return graph


def test_a_replica_needs_the_parameter_servers_that_it_names_itself_and_the_default_task() -> None:
    assert needed_tasks(replica("/job:worker/task:1"), TASKS, ("worker", 1)) == {("chief", 0), ("ps", 0), ("worker", 1)}


def test_a_job_without_a_task_is_the_first_of_its_tasks_as_for_the_placer() -> None:
    needed = needed_tasks(replica("/job:worker"), TASKS, ("worker", 1))
    assert needed == {("chief", 0), ("ps", 0), ("worker", 0), ("worker", 1)}


@pytest.mark.parametrize("device", ["", "/gpu:0", "/task:1"])
def test_state_without_a_job_may_be_anywhere(device: str) -> None:
    with tf.Graph().as_default() as graph, tf.device(device):
        tf.FIFOQueue(3, tf.int32, [])
    assert needed_tasks(graph, TASKS, ("worker", 1)) is None


def test_filters_of_the_program_and_sessions_elsewhere_are_left_alone() -> None:
    graph = replica("/job:worker/task:1")
    config = tf.ConfigProto(device_filters=["/job:ps"])
    assert filtered_config("grpc://nowhere:1", graph, None) is None
    assert filtered_config("", graph, config) is config
    with tf.train.Server({"ps": ["localhost:0", "localhost:1"], "worker": ["localhost:2", "localhost:3"]}, "ps", 0) as server:
        assert filtered_config(server.target, graph, config) is config
        assert list(filtered_config(server.target, graph, None).device_filters) == ["/job:ps/task:0", "/job:worker/task:1"]


def test_a_replica_trains_though_another_was_never_started(tmp_path: Path) -> None:
    with tf.train.Server({"ps": ["localhost:0"]}) as free:
        ps = free.target.removeprefix("grpc://")
    cluster = {"ps": [ps], "worker": ["localhost:0", "no-such-host.invalid:1"]}
    with tf.train.Server(cluster, "ps", 0), tf.train.Server(cluster, "worker", 0) as worker, tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device="/job:worker/task:0")):
            step = tf.train.get_or_create_global_step()
            train = tf.assign_add(step, 1)
        config = tf.ConfigProto(operation_timeout_in_ms=20_000)
        with tf.train.MonitoredTrainingSession(worker.target, True, str(tmp_path), config=config) as session:
            assert session.run(train) == 1
        plain = tf.Session(worker.target, config=tf.ConfigProto(operation_timeout_in_ms=500))
        with plain, pytest.raises(tf.errors.DeadlineExceededError, match="no-such-host"):
            plain.run(step)

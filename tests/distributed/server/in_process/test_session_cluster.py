"""SessionCluster: a session names the jobs of servers as it likes."""

from __future__ import annotations

import pytest

import weft as tf


def config_of(through_rpc: bool = False, **jobs: list[tf.train.Server]) -> tf.ConfigProto:
    config = tf.ConfigProto(operation_timeout_in_ms=20_000)
    config.rpc_options.use_rpc_for_inprocess_master = through_rpc
    for job, servers in jobs.items():
        tasks = config.cluster_def.job.add(name=job).tasks
        for index, server in enumerate(servers):
            tasks[index] = server.target.removeprefix("grpc://")
    return config


@pytest.mark.parametrize("through_rpc", [False, True])
def test_values_and_queues_go_between_tasks_under_the_sessions_names(through_rpc: bool) -> None:
    with tf.train.Server.create_local_server() as one, tf.train.Server.create_local_server() as two:
        with tf.device("/job:b"):
            queue = tf.FIFOQueue(3, tf.float32, [])
        with tf.device("/job:a"):
            put = queue.enqueue(tf.constant(3.0) * 2.0)
            taken = queue.dequeue() + 1.0
        with tf.Session(one.target, config=config_of(through_rpc, a=[one], b=[two])) as session:
            session.run(put)
            assert session.run(taken) == 7.0
        assert one.list_state() == two.list_state() == []


def test_a_server_that_stops_is_missed_by_the_cluster_of_a_session() -> None:
    with tf.train.Server.create_local_server() as one, tf.train.Server.create_local_server() as two:
        config = config_of(a=[one], b=[two])
        config.operation_timeout_in_ms = 300
        two.stop()
        with tf.Session(one.target, config=config) as session, pytest.raises(tf.errors.DeadlineExceededError, match="/job:b"):
            session.run(tf.constant(1.0))


def test_servers_under_their_own_names_keep_their_state() -> None:
    with tf.train.Server.create_local_server() as server, tf.Graph().as_default():
        v = tf.Variable(1.0, name="v")
        with tf.Session(server.target, config=config_of(local=[server])) as session:
            session.run(v.initializer)
        with tf.Session(server.target) as session:
            assert session.run(v) == 1.0

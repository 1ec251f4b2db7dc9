"""Guide 1: where variables go, saving by each server, the training loop, and what happens when each role fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.guides.conftest import StartProgram, StartServers
from tests.guides.running import ROOT
from weft.distributed.server.local_cluster import LocalCluster


@pytest.fixture(scope="module")
def processes() -> Iterator[LocalCluster]:
    with LocalCluster(ps=1, worker=2) as running:
        yield running


@pytest.fixture
def cluster(processes: LocalCluster) -> LocalCluster:
    tf.Session.reset(processes.target("ps", 0))
    return processes


def tasks_of(variables: Any) -> list[str]:
    return [variable.device for variable in variables]


def test_variables_go_round_robin_by_default() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=3)):
        variables = [tf.Variable(tf.zeros([size])) for size in (1000, 1, 1, 1)]
    assert tasks_of(variables) == [f"/job:ps/task:{i}" for i in (0, 1, 2, 0)]


def test_the_greedy_strategy_gives_the_least_loaded_server_the_next_variable() -> None:
    greedy = tf.contrib.training.GreedyLoadBalancingStrategy(3, tf.contrib.training.byte_size_load_fn)
    with tf.device(tf.train.replica_device_setter(ps_tasks=3, ps_strategy=greedy)):
        variables = [tf.Variable(tf.zeros([size])) for size in (1000, 1, 2, 1, 1)]
    assert tasks_of(variables) == [f"/job:ps/task:{i}" for i in (0, 1, 2, 1, 1)]


def test_a_large_embedding_is_cut_into_a_part_for_each_server() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=3)):
        tf.get_variable("embedding", [10_000_000, 20], partitioner=tf.fixed_size_partitioner(3))
    parts = tf.global_variables()
    assert [part.shape.as_list() for part in parts] == [[3_333_334, 20], [3_333_333, 20], [3_333_333, 20]]
    assert tasks_of(parts) == [f"/job:ps/task:{i}" for i in range(3)]


def test_training_updates_only_the_rows_that_were_looked_up_each_on_its_server(start_servers: StartServers) -> None:
    servers = start_servers({"ps": 3, "worker": 1})
    with tf.device(tf.train.replica_device_setter(ps_tasks=3)):
        embedding = tf.get_variable(
            "embedding", [10, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(3)
        )
        ids = tf.placeholder(tf.int64, [None])
        loss = tf.reduce_sum(tf.nn.embedding_lookup(embedding, ids, partition_strategy="div"))
        gradients = tf.gradients(loss, list(embedding))
        train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    assert all(isinstance(gradient, tf.IndexedSlices) for gradient in gradients)
    with tf.Session(servers["worker"][0].target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train_op, {ids: [0, 4, 9, 9]})
        rows = sess.run(tf.convert_to_tensor(embedding))[:, 0]
    assert rows.tolist() == [0.5, 1, 1, 1, 0.5, 1, 1, 1, 1, 0.0]


def test_each_parameter_server_writes_its_own_shard(start_servers: StartServers, tmp_path: Path) -> None:
    servers = start_servers({"ps": 3, "worker": 1})
    with tf.device(tf.train.replica_device_setter(ps_tasks=3)):
        variables = [tf.Variable(tf.fill([100], float(i)), name=f"v{i}") for i in range(3)]
    saver = tf.train.Saver(sharded=True)
    with tf.Session(servers["worker"][0].target) as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "model"), global_step=1000)
        assert sorted(p.name for p in tmp_path.glob("*.data*")) == [f"model-1000.data-0000{i}-of-00003" for i in range(3)]
        sess.run([v.assign(tf.zeros([100])) for v in variables])
        saver.restore(sess, path)
        assert [float(np.mean(value)) for value in sess.run(variables)] == [0.0, 1.0, 2.0]


def test_a_cluster_comes_from_the_environment(start_program: StartProgram) -> None:
    program = Path(__file__).parent / "programs" / "from_environment.py"
    launcher = start_program(ROOT / "weft" / "cli" / "__main__.py", "launch", "--no-flags", "--ps", 1, "--worker", 2, program)
    output = "\n".join(launcher.wait(60))
    for index in range(2):
        assert f"worker {index} of 2 ended" in output


@pytest.mark.slow
def test_an_embedding_of_ten_million_rows_trains_by_its_rows_alone() -> None:
    with LocalCluster(ps=3, worker=1) as cluster:
        with tf.device(tf.train.replica_device_setter(cluster=cluster.spec)):
            embedding = tf.get_variable(
                "embedding",
                [10_000_000, 20],
                initializer=tf.zeros_initializer(),
                partitioner=tf.fixed_size_partitioner(3),
            )
            ids = tf.placeholder(tf.int64, [None])
            rows = tf.nn.embedding_lookup(embedding, ids)
            train_op = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.square(rows - 1.0)) / 2)
        assert tasks_of(embedding) == [f"/job:ps/task:{i}" for i in range(3)]
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with tf.Session(cluster.target("worker", 0)) as sess:
            sess.run(tf.global_variables_initializer())
            chosen = np.random.RandomState(0).randint(0, 10_000_000, 300)
            sess.run(train_op, {ids: chosen})
            sess.run(train_op, {ids: chosen}, options=options, run_metadata=metadata)
            assert sess.run(rows, {ids: chosen}).tolist() == np.full((300, 20), 0.75).tolist()
            assert not sess.run(rows, {ids: [int(np.max(chosen)) + 1]}).any()
    sent = [
        sum(memory.total_bytes for memory in node.memory)
        for stats in metadata.step_stats.dev_stats
        for node in stats.node_stats
        if node.node_name == "RecvTensor"
    ]
    # The table has 800 MB; the rows that are looked up have 24 kB, there and back.
    assert 2 * 24_000 <= sum(sent) < 100_000


def count_up(index: int) -> tuple[Any, Any]:
    """A model of one counter on the parameter server: the step and the op that makes one."""
    with tf.device(tf.train.replica_device_setter(ps_tasks=1, worker_device=f"/job:worker/task:{index}")):
        step = tf.train.get_or_create_global_step()
        return step, tf.assign_add(step, 1)


def monitored(cluster: LocalCluster, index: int, directory: Path, last_step: int = 1000) -> Any:
    return tf.train.MonitoredTrainingSession(
        cluster.target("worker", index),
        is_chief=index == 0,
        checkpoint_dir=str(directory),
        save_checkpoint_secs=None,
        save_checkpoint_steps=5,
        save_summaries_steps=None,
        save_summaries_secs=None,
        log_step_count_steps=None,
        hooks=[tf.train.StopAtStepHook(last_step=last_step)],
        max_wait_secs=20,
        config=tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{index}"]),
    )


def test_the_loop_runs_to_its_last_step_and_the_next_goes_on_from_there(cluster: LocalCluster, tmp_path: Path) -> None:
    _, train_op = count_up(0)
    for last_step in (7, 12):
        with monitored(cluster, 0, tmp_path, last_step) as sess:
            while not sess.should_stop():
                value = sess.run(train_op)
        assert value == last_step
        assert str(tf.train.latest_checkpoint(str(tmp_path))).endswith(f"-{last_step}")
        cluster.restart("ps", 0)


def test_after_a_parameter_server_failed_run_goes_on_from_the_last_checkpoint(cluster: LocalCluster, tmp_path: Path) -> None:
    _, train_op = count_up(0)
    with monitored(cluster, 0, tmp_path) as sess:
        values = [int(sess.run(train_op)) for _ in range(8)]
        assert values == list(range(1, 9))
        saved = int(str(tf.train.latest_checkpoint(str(tmp_path))).rpartition("-")[2])
        cluster.restart("ps", 0)
        assert sess.run(train_op) == saved + 1


def test_workers_come_and_go_and_a_new_chief_takes_over(cluster: LocalCluster, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        _, chief_op = count_up(0)
        chief = monitored(cluster, 0, tmp_path)
        assert chief.run(chief_op) == 1
    with tf.Graph().as_default():
        _, worker_op = count_up(1)
        worker = monitored(cluster, 1, tmp_path)
        assert worker.run(worker_op) == 2

        cluster.kill("worker", 1)
        assert chief.run(chief_op) == 3
        cluster.restart("worker", 1)
        assert worker.run(worker_op) == 4

    chief.close()
    cluster.kill("worker", 0)
    assert worker.run(worker_op) == 5
    cluster.restart("worker", 0)
    with tf.Graph().as_default():
        _, chief_op = count_up(0)
        with monitored(cluster, 0, tmp_path) as new_chief:
            # Its last checkpoint was of step 4.
            assert new_chief.run(chief_op) in (5, 6)
            assert worker.run(worker_op) in (6, 7)
    worker.close()

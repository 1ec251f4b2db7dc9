"""Saving and restoring in a cluster of real processes: each task writes its own variables, or the chief writes all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.distributed.server.local_cluster import LocalCluster
from weft.training.saving.saver import get_saver_or_default


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(ps=2, worker=1) as running:
        yield running


def build(tasks: int, value: Any) -> list[Any]:
    """A variable in parts over parameter servers, and one on each."""
    made = []
    for task in range(tasks):
        with tf.device(f"/job:ps/task:{task}"):
            made.append(tf.Variable([1.0 + task], name=f"own_{task}"))
    with tf.device(tf.train.replica_device_setter(ps_tasks=tasks)):
        partitioner = tf.fixed_size_partitioner(tasks)
        made.append(tf.get_variable("table", initializer=tf.constant(value), partitioner=partitioner))
    return made


def test_each_parameter_server_writes_its_own_shard(cluster: LocalCluster, tmp_path: Path) -> None:
    value = np.arange(20, dtype=np.float32).reshape(10, 2)
    build(2, value)
    saver = tf.train.Saver(sharded=True)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        proto = saver.as_saver_def()
        fed = {proto.filename_tensor_name: str(tmp_path / "traced")}
        sess.run(proto.save_tensor_name, fed, options=options, run_metadata=metadata)
        ran = {node.node_name: stats.device for stats in metadata.step_stats.dev_stats for node in stats.node_stats}
        assert "/job:ps/replica:0/task:0" in ran["save/SaveV2"]
        assert "/job:ps/replica:0/task:1" in ran["save/SaveV2_1"]
        path = saver.save(sess, str(tmp_path / "m"), global_step=1)
        assert len(list(tmp_path.glob("m-1.data-*-of-00002"))) == 2
        sess.run([tf.assign(v, tf.zeros_like(v)) for v in tf.global_variables()])
        saver.restore(sess, path)
        assert sess.run("own_1:0").tolist() == [2.0]
    np.testing.assert_array_equal(tf.train.load_variable(path, "table"), value)


def test_a_cluster_of_two_restores_what_one_process_saved(cluster: LocalCluster, tmp_path: Path) -> None:
    value = np.arange(20, dtype=np.float32).reshape(10, 2)
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.Variable([5.0], name="own_0")
        tf.Variable([6.0], name="own_1")
        tf.get_variable("table", initializer=tf.constant(value))
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    variables = build(2, np.zeros_like(value))
    for sharded in (False, True):
        with tf.Session(cluster.target("worker", 0)) as sess:
            tf.train.Saver(sharded=sharded).restore(sess, path)
            np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(variables[2])), value)
            assert sess.run(variables[1]).tolist() == [6.0]


def test_an_error_of_a_parameter_server_names_the_node_and_keeps_the_advice(cluster: LocalCluster, tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        other = tf.Variable(1.0, name="other")
        sess.run(other.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.device("/job:ps/task:1"):
        tf.Variable(1.0, name="wanted")
    saver = tf.train.Saver(sharded=True)
    with tf.Session(cluster.target("worker", 0)) as sess, pytest.raises(tf.errors.NotFoundError) as raised:
        saver.restore(sess, path)
    assert raised.value.op.name == "save/RestoreV2"
    assert raised.value.message.startswith("Restoring from checkpoint failed.")
    assert "Key wanted not found in checkpoint" in raised.value.message


def test_a_save_that_fails_leaves_none_of_its_parts(cluster: LocalCluster, tmp_path: Path) -> None:
    with tf.device("/job:ps/task:0"):
        there = tf.get_variable("there", initializer=np.zeros(1000, np.float32))
    with tf.device("/job:ps/task:1"):
        tf.get_variable("without_value", initializer=0.0)
    saver = tf.train.Saver(sharded=True)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(there.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="without_value"):
            saver.save(sess, str(tmp_path / "m"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("sharded", "use_resource"), [(False, False), (True, True)])
def test_a_save_during_training_has_a_variable_and_its_slot_of_one_update(
    cluster: LocalCluster, tmp_path: Path, sharded: bool, use_resource: bool
) -> None:
    # Of 40 such saves 12 were torn while reads took no locks.
    # With a momentum of 1 and gradients of 1 the slot counts the updates n, and the variable is -n (n + 1) / 2.
    names = [f"torn_{number}_{use_resource}_{sharded}" for number in range(3)]
    with tf.device("/job:ps/task:0"):
        variables = [
            tf.get_variable(name, [100_000], tf.float64, tf.zeros_initializer(), use_resource=use_resource) for name in names
        ]
    with tf.device("/job:worker/task:0"):
        gradients = [(tf.ones([100_000], tf.float64), variable) for variable in variables]
    train = tf.train.MomentumOptimizer(1.0, 1.0).apply_gradients(gradients)
    saver = tf.train.Saver(sharded=sharded, max_to_keep=None)
    stop, is_training = threading.Event(), threading.Event()
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())

        def keep_training() -> None:
            while not stop.is_set():
                sess.run(train)
                is_training.set()

        trainer = threading.Thread(target=keep_training)
        trainer.start()
        paths = []
        try:
            for step in range(20):
                # Training goes on between the saves; the tasks may have to make code first.
                is_training.clear()
                assert is_training.wait(60)
                paths.append(saver.save(sess, str(tmp_path / "m"), step, write_meta_graph=False))
        finally:
            stop.set()
            trainer.join(60)
    counts = []
    for path in paths:
        for name in names:
            value, slot = tf.train.load_variable(path, name), tf.train.load_variable(path, f"{name}/Momentum")
            np.testing.assert_array_equal(value, -slot * (slot + 1) / 2)
        counts.append(slot[0])
    assert counts == sorted(counts)
    assert counts[-1] > counts[0]


def apart(cluster: LocalCluster, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this process see another directory than the tasks do at a relative path, as where no file system is shared."""
    (directory / "here").mkdir()
    monkeypatch.chdir(directory / "here")


def test_without_shared_files_a_save_and_a_restore_go_through_the_client(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = np.arange(20, dtype=np.float32).reshape(10, 2)
    variables = build(2, value)
    tf.get_variable("resource", initializer=[3.0, 4.0], use_resource=True)
    before = set(Path.cwd().iterdir())
    there = Path.cwd()
    apart(cluster, tmp_path, monkeypatch)
    monkeypatch.setattr("weft.training.saving.streaming.BATCH_BYTES", 50)
    for name, saver in (("plain", tf.train.Saver()), ("default", get_saver_or_default())):
        with tf.Session(cluster.target("worker", 0)) as sess:
            sess.run(tf.global_variables_initializer())
            for step in (1, 2):
                path = saver.save(sess, name, global_step=step)
                assert path == f"{name}-{step}"
                sess.run([tf.assign(v, tf.zeros_like(v)) for v in tf.global_variables()])
                saver.restore(sess, path)
            assert sess.run(variables[1]).tolist() == [2.0]
            assert sess.run("resource:0").tolist() == [3.0, 4.0]
            np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(variables[2])), value)
        with tf.Session(cluster.target("worker", 0)) as sess:
            saver.restore(sess, path)
        scope = saver.as_saver_def().restore_op_name.partition("/")[0]
        (one,) = (op for op in variables[0].op.outputs[0].consumers() if op.name.startswith(f"{scope}/Assign"))
        with tf.Session(cluster.target("worker", 0)) as sess:
            sess.run([tf.assign(variables[0], [8.0]), tf.assign(variables[1], [9.0])])
            saver.restore_some(sess, path, [one])
            assert [value.tolist() for value in sess.run(variables[:2])] == [[1.0], [9.0]]
        np.testing.assert_array_equal(tf.train.load_variable(path, "table"), value)
    assert set(there.iterdir()) == before
    assert not list(Path.cwd().glob(".*"))


def test_without_shared_files_a_save_by_the_tasks_is_refused_and_writes_nothing(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tf.device("/job:ps/task:0"):
        tf.Variable([1.0], name="alone")
    before = set(Path.cwd().iterdir())
    there = Path.cwd()
    apart(cluster, tmp_path, monkeypatch)
    saver = tf.train.Saver(sharded=True)
    with tf.Session(cluster.target("worker", 0)) as sess:
        sess.run(tf.global_variables_initializer())
        message = r"Nothing was saved as m-1: .*/job:ps/replica:0/task:0 writes.*leave out sharded=True"
        with pytest.raises(tf.errors.NotFoundError, match=message):
            saver.save(sess, "m", global_step=1)
    assert set(there.iterdir()) == before
    assert list(Path.cwd().iterdir()) == []


def test_a_streamed_checkpoint_that_lacks_a_variable_says_so(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apart(cluster, tmp_path, monkeypatch)
    with tf.Graph().as_default(), tf.Session() as sess:
        other = tf.Variable(1.0, name="other")
        sess.run(other.initializer)
        tf.train.Saver().save(sess, "m")
    with tf.device("/job:ps/task:1"):
        tf.Variable(1.0, name="wanted")
    with tf.Session(cluster.target("worker", 0)) as sess, pytest.raises(tf.errors.NotFoundError) as raised:
        tf.train.Saver().restore(sess, "m")
    assert raised.value.message.startswith("Restoring from checkpoint failed.")
    assert "Key wanted not found in checkpoint" in raised.value.message

"""CollectiveAllReduceOptimizer where it can be told without other workers; with four: tests/examples/test_hybrid.py."""

from __future__ import annotations

import pytest

import weft as tf

ALONE = {"ps": ["localhost:1"], "worker": ["localhost:2"]}
Optimizer = tf.distribute.experimental.CollectiveAllReduceOptimizer


def test_a_cluster_without_parameter_servers_and_a_task_that_is_no_worker_are_refused() -> None:
    sgd = tf.train.GradientDescentOptimizer(1.0)
    with pytest.raises(ValueError, match=r"has no `ps` job.*MultiWorkerMirroredStrategy"):
        Optimizer(sgd, {"worker": ["localhost:1", "localhost:2"]})
    with pytest.raises(ValueError, match=r"worker:3 is no worker of the cluster, only \[\('worker', 0\)\]"):
        Optimizer(sgd, ALONE, "worker", 3)


def test_a_table_without_an_optimizer_and_a_step_that_all_would_count_are_refused() -> None:
    optimizer = Optimizer(tf.train.GradientDescentOptimizer(1.0), ALONE)
    with tf.device("/job:ps/task:0"):
        table, step = tf.get_variable("table", [3]), tf.train.get_or_create_global_step()
    with pytest.raises(ValueError, match=r"table:0 on parameter servers have gradients: give a table_opt"):
        optimizer.minimize(tf.reduce_sum(table))
    with pytest.raises(ValueError, match=r"global step 'global_step:0' is on /job:ps/task:0, where every worker would add"):
        optimizer.minimize(tf.reduce_sum(table), global_step=step)


def test_one_worker_trains_its_copy_and_the_table_with_an_optimizer_each() -> None:
    (worker,), (server,) = tf.test.create_local_cluster(num_workers=1, num_ps=1)
    optimizer = Optimizer(
        tf.train.GradientDescentOptimizer(0.5), worker.server_def.cluster, table_opt=tf.train.AdagradOptimizer(0.1)
    )
    with tf.device("/job:ps/task:0"):
        table = tf.get_variable("table", initializer=[1.0, 1.0, 1.0])
    with tf.device(optimizer.worker_device):
        step = tf.train.get_or_create_global_step()
        weight = tf.get_variable("weight", initializer=2.0)
    train = optimizer.minimize(weight * tf.reduce_sum(tf.gather(table, [0, 2])), global_step=step)
    assert optimizer.get_slot(table, "accumulator") is not None
    assert optimizer.num_replicas_in_sync == 1
    hooks = [optimizer.make_session_run_hook()]
    with tf.train.MonitoredTrainingSession(worker.target, is_chief=optimizer.is_chief, hooks=hooks) as session:
        session.run(train)
        weight_now, table_now, steps = session.run([weight, table, step])
    for each in (worker, server):
        each.stop()
    assert weight_now == 1.0
    assert table_now[1] == 1.0
    assert table_now[0] == table_now[2] < 1.0
    assert steps == 1


def test_the_copies_of_others_than_the_chief_are_local_variables() -> None:
    optimizer = Optimizer.__new__(Optimizer)
    alone = Optimizer(tf.train.AdamOptimizer(), ALONE)
    vars(optimizer).update(vars(alone), _index=1, worker_device="/job:worker/task:0")
    with tf.device(optimizer.worker_device):
        weight = tf.get_variable("weight", initializer=2.0)
    optimizer.minimize(weight * weight)
    assert tf.global_variables() == []
    names = {each.op.name for each in tf.local_variables()}
    assert {"weight", "weight/Adam", "weight/Adam_1"} <= names

"""Clusters, servers, devices, sessions that recover, hooks."""

from typing import assert_type

import weft as tf

cluster = tf.train.ClusterSpec({"ps": ["127.0.0.1:0"], "worker": {0: "a:1", 2: "b:2"}})
assert_type(cluster.jobs, list[str])
assert_type(cluster.num_tasks("worker"), int)
setter = tf.train.replica_device_setter(ps_tasks=1, worker_device="/job:worker/task:0", cluster=cluster)
with tf.Graph().as_default() as placed, tf.device(setter):
    shared = tf.get_variable("shared", [2])
    print(shared.device, len(placed.get_operations()))


class Count(tf.train.SessionRunHook):
    """A hook of the program's own."""

    def __init__(self) -> None:
        self.runs = 0

    def before_run(self, run_context: tf.train.SessionRunContext) -> tf.train.SessionRunArgs:
        return tf.train.SessionRunArgs(tf.train.get_global_step())

    def after_run(self, run_context: tf.train.SessionRunContext, run_values: tf.train.SessionRunValues) -> None:
        self.runs += 1
        if run_values.results >= 3:
            run_context.request_stop()


with tf.train.Server.create_local_server() as server:
    assert_type(server, tf.train.Server)
    with tf.device("/cpu:0"):
        step = tf.train.get_or_create_global_step()
        train_op = tf.assign_add(step, 1)
    hooks: list[tf.train.SessionRunHook] = [Count(), tf.train.StopAtStepHook(last_step=5)]
    with tf.train.MonitoredTrainingSession(
        master=server.target, is_chief=True, hooks=hooks, config=tf.ConfigProto(), log_step_count_steps=None
    ) as sess:
        while not sess.should_stop():
            sess.run(train_op)
    with tf.Session(server.target) as plain:
        print([device.name for device in plain.list_devices()])

"""A task that knows its cluster from the environment alone: TF_CONFIG has the jobs and who this is."""

from __future__ import annotations

import json
import os

import weft as tf

config = json.loads(os.environ["TF_CONFIG"])
cluster = tf.train.ClusterSpec(config["cluster"])
job, index = config["task"]["type"], config["task"]["index"]
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()

with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.assign_add(global_step, 1)
with tf.train.MonitoredTrainingSession(
    server.target, is_chief=index == 0, hooks=[tf.train.StopAtStepHook(last_step=5)]
) as session:
    while not session.should_stop():
        session.run(train_op)
print(f"{job} {index} of {cluster.num_tasks(job)} ended")

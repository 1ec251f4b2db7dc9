"""A replica that trains in step with others.

    sync_replica.py JOB INDEX ADDRESSES [LAST_STEP TIMEOUT_S INPUTS [DIRECTORY]]

ADDRESSES are those of two parameter servers and of the workers, by commas. Each update takes a tenth off the variable of each
parameter server. The last worker's input ends after so many INPUTS; 0 for never.
"""

from __future__ import annotations

import logging
import sys
import time

import weft as tf

logging.basicConfig(stream=sys.stdout, format="%(message)s")
tf.logging.set_verbosity(tf.logging.INFO)
job, index, addresses = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
cluster = tf.train.ClusterSpec({"ps": addresses[:2], "worker": addresses[2:]})
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()

last_step, timeout_s, inputs = int(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6])
directory = sys.argv[7] if len(sys.argv) > 7 else None
workers = len(addresses) - 2
ends = inputs and index == workers - 1
with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
    with tf.device("/job:ps/task:0"):
        step = tf.train.get_or_create_global_step()
        first = tf.Variable(0.0, name="first")
    with tf.device("/job:ps/task:1"):
        second = tf.Variable(0.0, name="second")
    with tf.device(f"/job:worker/task:{index}"):
        one = tf.train.limit_epochs(tf.constant(1.0), inputs if ends else None)
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.1), workers, workers, replica_timeout_secs=timeout_s
    )
    train = optimizer.minimize(one * (first + second), global_step=step)
hooks = [optimizer.make_session_run_hook(index == 0), tf.train.StopAtStepHook(last_step=last_step)]
with tf.train.MonitoredTrainingSession(
    server.target,
    is_chief=index == 0,
    checkpoint_dir=directory,
    save_checkpoint_steps=25,
    save_summaries_steps=None,
    hooks=hooks,
) as session:
    while not session.should_stop():
        local_step = session.run(train)
        print("found", local_step, 0, 0)
        time.sleep(0.03)
print("ended")

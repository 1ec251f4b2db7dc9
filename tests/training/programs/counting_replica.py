"""A replica that counts in variables of two parameter servers.

    counting_replica.py JOB INDEX ADDRESSES [DIRECTORY LAST_STEP [RESTORE]]

ADDRESSES are those of two parameter servers and of the workers, by commas. A checkpoint is saved every 40 steps. Each step adds
one to the global step, which is on ps:0, to `first` on ps:0 and to `second` on ps:1; what each step found is printed.
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
    print("serving")
    server.join()

directory, last_step, restore = (*sys.argv[4:], None)[:3]
with tf.device("/job:ps/task:0"):
    step = tf.train.get_or_create_global_step()
    first = tf.Variable(0, name="first")
with tf.device("/job:ps/task:1"):
    second = tf.Variable(0, name="second")
count = [tf.assign_add(step, 1), tf.assign_add(first, 1), tf.assign_add(second, 1)]
with tf.train.MonitoredTrainingSession(
    server.target,
    is_chief=index == 0,
    checkpoint_dir=directory or None,
    save_checkpoint_steps=40,
    save_summaries_steps=None,
    hooks=[tf.train.StopAtStepHook(last_step=int(last_step))],
    restore=restore,
) as session:
    while not session.should_stop():
        at, in_first, in_second = session.run(count)
        print("found", at, in_first, in_second)
        time.sleep(0.005)
print("ended")

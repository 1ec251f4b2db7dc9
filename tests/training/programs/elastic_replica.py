"""A replica of a job that begins with one worker and may have three.

    elastic_replica.py JOB INDEX ADDRESSES FOLDER

ADDRESSES are those of two parameter servers and of the workers, by commas. Training ends when FOLDER has a file `end`.
"""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path

import weft as tf

logging.basicConfig(stream=sys.stdout, format="%(message)s")
tf.logging.set_verbosity(tf.logging.INFO)
job, index, addresses, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(","), Path(sys.argv[4])
cluster = tf.train.ClusterSpec({"ps": addresses[:2], "worker": addresses[2:]})
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
workers = len(addresses) - 2
with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
    step = tf.train.get_or_create_global_step()
    value = tf.get_variable("value", initializer=0.0)
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.1), workers, workers, replica_timeout_secs=0.5, min_num_replicas=1
    )
    train = optimizer.minimize(value, global_step=step)
hooks = [optimizer.make_session_run_hook(index == 0)]
with tf.train.MonitoredTrainingSession(
    server.target, is_chief=index == 0, save_checkpoint_secs=None, save_summaries_steps=None, hooks=hooks
) as session:
    while not (folder / "end").exists():
        local_step, now = session.run([train, value])
        print("found", local_step, round(now * -10), 0, flush=True)
        time.sleep(0.03)
print("ended", flush=True)

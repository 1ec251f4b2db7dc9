"""A task of a small job as its launcher starts it: a worker tells of its first step, parameter servers serve.

The flags are those that `weft launch` gives; TensorFlow's tasks get them from the measure.
"""

from __future__ import annotations

import argparse

from benchmarks import scraping
from benchmarks.framework import framework

FIRST_STEP = "the first step is done"


def main() -> None:
    """Run the task that the flags name."""
    parser = argparse.ArgumentParser()
    for flag in ("--ps_hosts", "--worker_hosts", "--job_name"):
        parser.add_argument(flag)
    parser.add_argument("--task_index", type=int)
    flags = parser.parse_known_args()[0]
    tf = framework()
    cluster = {"ps": flags.ps_hosts.split(","), "worker": flags.worker_hosts.split(",")}
    server = tf.train.Server(tf.train.ClusterSpec(cluster), job_name=flags.job_name, task_index=flags.task_index)
    scraping.note_threads(server)
    if flags.job_name == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(cluster))):
        weights = tf.get_variable("weights", [10], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.square(weights))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
    with tf.train.MonitoredTrainingSession(server.target, is_chief=flags.task_index == 0) as session:
        session.run(step)
        if flags.task_index == 0:
            print(FIRST_STEP, flush=True)


if __name__ == "__main__":
    main()

"""Guide 2's trainer program with a model in the gap: between-graph replication, asynchronous, one command line per task."""

from __future__ import annotations

import argparse
import sys

import numpy as np

import weft as tf

FLAGS = argparse.Namespace()


def main(_: list[str]) -> None:
    ps_hosts = FLAGS.ps_hosts.split(",")
    worker_hosts = FLAGS.worker_hosts.split(",")

    cluster = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)

    if FLAGS.job_name == "ps":
        server.join()
    elif FLAGS.job_name == "worker":
        setter = tf.train.replica_device_setter(worker_device=f"/job:worker/task:{FLAGS.task_index}", cluster=cluster)
        with tf.device(setter):
            x = tf.placeholder(tf.float32, [None, 2])
            y = tf.placeholder(tf.float32, [None])
            weights = tf.get_variable("weights", [2, 1])
            bias = tf.get_variable("bias", [], initializer=tf.zeros_initializer())
            loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(x, weights), 1) + bias - y))
            global_step = tf.contrib.framework.get_or_create_global_step()
            train_op = tf.train.AdagradOptimizer(0.5).minimize(loss, global_step=global_step)

        hooks = [tf.train.StopAtStepHook(last_step=FLAGS.last_step)]
        random = np.random.RandomState(FLAGS.task_index)
        with tf.train.MonitoredTrainingSession(
            master=server.target,
            is_chief=(FLAGS.task_index == 0),
            checkpoint_dir=FLAGS.train_dir,
            hooks=hooks,
            save_summaries_steps=None,
            save_summaries_secs=None,
        ) as mon_sess:
            first = None
            while not mon_sess.should_stop():
                inputs = random.uniform(-1, 1, size=(32, 2))
                feed = {x: inputs, y: inputs @ [2.0, -3.0] + 0.5}
                _, value, step = mon_sess.run([train_op, loss, global_step], feed)
                first = step if first is None else first
        print(f"first step {first}, last step {step}, loss {value:.6f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.register("type", "bool", lambda v: v.lower() == "true")
    parser.add_argument("--ps_hosts", type=str, default="", help="Comma-separated list of hostname:port pairs")
    parser.add_argument("--worker_hosts", type=str, default="", help="Comma-separated list of hostname:port pairs")
    parser.add_argument("--job_name", type=str, default="", help="One of 'ps', 'worker'")
    parser.add_argument("--task_index", type=int, default=0, help="Index of task within the job")
    parser.add_argument("--train_dir", type=str, default="/tmp/train_logs")
    parser.add_argument("--last_step", type=int, default=1000000)
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0], *unparsed])

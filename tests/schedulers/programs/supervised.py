"""A Supervisor's loop, with the steps, summaries and checkpoints that it keeps; told where it is by flags."""

import argparse
import time

import numpy as np

import weft as tf

parser = argparse.ArgumentParser()
parser.add_argument("--ps_hosts", default="")
parser.add_argument("--worker_hosts", default="")
parser.add_argument("--job_name", default="")
parser.add_argument("--task_index", type=int, default=0)
parser.add_argument("--model", default=None)
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--task_s", type=float, default=0.0)
FLAGS = parser.parse_args()


def main():
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    elif FLAGS.job_name == "worker":
        train(server, cluster)


def train(server, cluster):
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{FLAGS.task_index}", cluster=cluster)):
        inputs = tf.placeholder(tf.float32, [None, 8])
        weight = tf.get_variable("weight", [8, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(inputs, weight) - tf.reduce_sum(inputs, 1, keepdims=True)))
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.AdagradOptimizer(0.3).minimize(loss, global_step=global_step)
        tf.summary.scalar("loss", loss)
        saver = tf.train.Saver()
        summary_op = tf.summary.merge_all()
        init_op = tf.global_variables_initializer()
    supervisor = tf.train.Supervisor(
        is_chief=FLAGS.task_index == 0,
        logdir=FLAGS.model,
        init_op=init_op,
        summary_op=None,
        saver=saver,
        global_step=global_step,
        save_model_secs=60,
    )
    random = np.random.RandomState(FLAGS.task_index)
    with supervisor.managed_session(server.target) as session:
        print(f"worker {FLAGS.task_index} trains", flush=True)
        step = 0
        while not supervisor.should_stop() and step < FLAGS.steps:
            feed = {inputs: random.rand(16, 8)}
            _, value, step = session.run([train_op, loss, global_step], feed)
            if step % 10 == 0 and FLAGS.task_index == 0 and FLAGS.model:
                supervisor.summary_computed(session, session.run(summary_op, feed))
            time.sleep(FLAGS.task_s)
        print(f"worker {FLAGS.task_index} is done at step {step}, loss {value:.3f}", flush=True)
    supervisor.stop()


if __name__ == "__main__":
    main()

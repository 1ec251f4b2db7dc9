"""One client with a session of its own, as old programs have it, which it does not even close; the other tasks only serve."""

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
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps" or FLAGS.task_index > 0:
        server.join()
    with tf.device("/job:ps/task:0"):
        weight = tf.get_variable("weight", [8, 1], initializer=tf.zeros_initializer())
    inputs = tf.placeholder(tf.float32, [len(workers), 16, 8])
    losses = []
    for index in range(len(workers)):
        with tf.device(f"/job:worker/task:{index}"):
            batch = inputs[index]
            losses.append(tf.reduce_mean(tf.square(tf.matmul(batch, weight) - tf.reduce_sum(batch, 1, keepdims=True))))
    loss = tf.add_n(losses) / len(workers)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, colocate_gradients_with_ops=True)
    saver = tf.train.Saver()
    random = np.random.RandomState(0)
    session = tf.Session(server.target)
    session.run(tf.global_variables_initializer())
    print("the client trains", flush=True)
    for _ in range(FLAGS.steps):
        _, value = session.run([train, loss], {inputs: random.rand(len(workers), 16, 8)})
        time.sleep(FLAGS.task_s)
    if FLAGS.model:
        tf.gfile.MakeDirs(FLAGS.model)
        saver.save(session, f"{FLAGS.model}/model.ckpt")
    print(f"the client is done, loss {value:.3f}", flush=True)


if __name__ == "__main__":
    main()

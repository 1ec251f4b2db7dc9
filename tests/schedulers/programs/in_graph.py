"""One client, whose graph has a tower on each worker; all other tasks only serve."""

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
        step = tf.train.get_or_create_global_step()
    inputs = tf.placeholder(tf.float32, [len(workers), 16, 8])
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    towers, losses = [], []
    for index in range(len(workers)):
        with tf.device(f"/job:worker/task:{index}"):
            batch = inputs[index]
            loss = tf.reduce_mean(tf.square(tf.matmul(batch, weight) - tf.reduce_sum(batch, 1, keepdims=True)))
            losses.append(loss)
            towers.append(optimizer.compute_gradients(loss, [weight]))
    gradient = tf.add_n([tower[0][0] for tower in towers]) / len(workers)
    train = optimizer.apply_gradients([(gradient, weight)], global_step=step)
    loss = tf.add_n(losses) / len(workers)
    random = np.random.RandomState(0)
    hooks = [tf.train.StopAtStepHook(last_step=FLAGS.steps)]
    with tf.train.MonitoredTrainingSession(server.target, checkpoint_dir=FLAGS.model, hooks=hooks) as session:
        print("the client trains", flush=True)
        while not session.should_stop():
            _, value, done = session.run([train, loss, step], {inputs: random.rand(len(workers), 16, 8)})
            time.sleep(FLAGS.task_s)
    print(f"the client is done at step {done}, loss {value:.3f}", flush=True)


if __name__ == "__main__":
    main()

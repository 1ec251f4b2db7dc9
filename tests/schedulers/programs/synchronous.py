"""A MonitoredTrainingSession of synchronous replicas on a parameter server, told where they are by flags."""

import time

import numpy as np

import weft as tf

tf.app.flags.DEFINE_string("ps_hosts", "", "host:port of each parameter server, separated by commas")
tf.app.flags.DEFINE_string("worker_hosts", "", "host:port of each worker, separated by commas")
tf.app.flags.DEFINE_string("job_name", "", "this task's job")
tf.app.flags.DEFINE_integer("task_index", 0, "this task's index within its job")
tf.app.flags.DEFINE_string("model", "", "directory for checkpoints")
tf.app.flags.DEFINE_integer("steps", 30, "steps of all workers together")
tf.app.flags.DEFINE_float("task_s", 0.0, "how long a step takes at least")
FLAGS = tf.app.flags.FLAGS


def main(_):
    workers = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": workers})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
        return
    is_chief = FLAGS.task_index == 0
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{FLAGS.task_index}", cluster=cluster)):
        features = tf.placeholder(tf.float32, [None, 4])
        labels = tf.placeholder(tf.float32, [None, 1])
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
        global_step = tf.train.get_or_create_global_step()
        optimizer = tf.train.SyncReplicasOptimizer(tf.train.AdamOptimizer(0.1), len(workers), total_num_replicas=len(workers))
        train_op = optimizer.minimize(loss, global_step=global_step)
    hooks = [optimizer.make_session_run_hook(is_chief), tf.train.StopAtStepHook(last_step=FLAGS.steps)]
    random = np.random.RandomState(FLAGS.task_index)
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief, FLAGS.model or None, hooks=hooks, save_checkpoint_secs=30, log_step_count_steps=10
    ) as session:
        print(f"worker {FLAGS.task_index} trains", flush=True)
        while not session.should_stop():
            batch = random.rand(16, 4)
            feed = {features: batch, labels: batch.sum(1, keepdims=True)}
            _, value, step = session.run([train_op, loss, global_step], feed)
            time.sleep(FLAGS.task_s)
    print(f"worker {FLAGS.task_index} is done at step {step}, loss {value:.3f}", flush=True)


if __name__ == "__main__":
    tf.app.run()

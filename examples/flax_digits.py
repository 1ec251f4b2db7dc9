"""Train a Flax model on weft's parameter servers: handwritten digits, read by a convolutional network of Flax.

`tf.jax_function(model.apply)` makes the model an op of the graph, with JAX's derivative; its parameters are variables of weft,
so they live on the parameter servers, and the workers share them.

    weft launch --ps 1 --worker 2 examples/flax_digits.py

Needs Flax and scikit-learn: pip install 'weft[flax,examples]'
"""

import argparse
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from sklearn.datasets import load_digits

import weft as tf

FLAGS = argparse.Namespace()
TEST_IMAGES = 360


class Reader(nn.Module):
    """Two convolutions and a dense layer: `[batch, 8, 8, 1] -> [batch, 10]`, the logits of the digits."""

    @nn.compact
    def __call__(self, images: Any) -> Any:
        for channels in (16, 32):
            images = nn.max_pool(nn.relu(nn.Conv(channels, (3, 3))(images)), (2, 2), (2, 2))
        return nn.Dense(10)(images.reshape(images.shape[0], -1))


def variables_of(params: Any) -> Any:
    """Return variables that begin with a model's parameters, in the same structure."""

    def variable(path: Any, value: Any) -> Any:
        name = "/".join(str(key.key) for key in path)
        return tf.get_variable(name, initializer=np.asarray(value))

    return jax.tree_util.tree_map_with_path(variable, params)


def train(cluster: Any, server: Any) -> None:
    """Do one worker's part."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(images))
    images = (images[order] / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    labels = labels[order].astype(np.int64)
    is_chief = FLAGS.task_index == 0

    model = Reader()
    params = model.init(jax.random.key(0), jnp.zeros([1, 8, 8, 1]))
    worker = f"/job:worker/task:{FLAGS.task_index}"
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        inputs = tf.placeholder(tf.float32, [None, 8, 8, 1])
        targets = tf.placeholder(tf.int64, [None])
        logits = tf.jax_function(model.apply)(variables_of(params), inputs)
        loss = tf.losses.sparse_softmax_cross_entropy(targets, logits)
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), targets), tf.float32))
        step = tf.train.get_or_create_global_step()
        update = tf.train.AdamOptimizer(FLAGS.learning_rate).minimize(loss, step)

    random = np.random.RandomState(FLAGS.task_index)
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief, FLAGS.train_dir, config=tf.ConfigProto(device_filters=["/job:ps", worker])
    ) as session:
        now = 0
        while now < FLAGS.train_steps:
            chosen = random.randint(TEST_IMAGES, len(images), FLAGS.batch_size)
            _, now = session.run([update, step], {inputs: images[chosen], targets: labels[chosen]})
        if is_chief:
            test = {inputs: images[:TEST_IMAGES], targets: labels[:TEST_IMAGES]}
            print(f"test accuracy {session.run(accuracy, test):.2%} after step {now}")


def main(_: list[str]) -> None:
    hosts = {"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts}
    cluster = tf.train.ClusterSpec({job: addresses.split(",") for job, addresses in hosts.items() if addresses})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    else:
        train(cluster, server)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ps_hosts", default="", help="host:port of each parameter server, separated by commas")
    parser.add_argument("--worker_hosts", default="", help="host:port of each worker, separated by commas")
    parser.add_argument("--job_name", default="", help="this task's job: 'ps' or 'worker'")
    parser.add_argument("--task_index", type=int, default=0, help="this task's index within its job")
    parser.add_argument("--train_dir", default=None, help="directory for checkpoints (default: none are written)")
    parser.add_argument("--train_steps", type=int, default=400, help="steps of all workers together (default %(default)s)")
    parser.add_argument("--batch_size", type=int, default=64, help="images per step (default %(default)s)")
    parser.add_argument("--learning_rate", type=float, default=0.003, help="of Adam (default %(default)s)")
    FLAGS, _ = parser.parse_known_args()
    tf.app.run(main)

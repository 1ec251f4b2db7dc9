"""Learn to read handwritten digits on a cluster of parameter servers and workers.

Each worker builds the same graph (between-graph replication), with the variables on the parameter servers, and updates
them without waiting for the others (asynchronous training). The first worker is the chief: it initializes the variables
or restores them from the last checkpoint, saves checkpoints, and tells at the end how well the network reads digits
that it was not trained on. Run it again and it goes on from where it stopped.

    weft launch --ps 2 --worker 2 examples/digits.py

or by hand, one command per task, on as many machines as you like:

    python examples/digits.py --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --job_name=ps --task_index=0
    python examples/digits.py --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --job_name=worker --task_index=0
    python examples/digits.py --ps_hosts=a:2222 --worker_hosts=b:2222,c:2222 --job_name=worker --task_index=1

The data are scikit-learn's: 1797 images of 8x8 pixels.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits

import weft as tf

FLAGS = argparse.Namespace()
TEST_IMAGES = 360


class Digits(NamedTuple):
    """Images as [n, 64] float32 from 0 to 1, and the digit that each shows as [n] int64."""

    images: np.ndarray
    labels: np.ndarray


class Model(NamedTuple):
    """The tensors and the op that the training loop needs."""

    images: Any
    labels: Any
    loss: Any
    accuracy: Any
    global_step: Any
    train_op: Any


class TestHook(tf.train.SessionRunHook):
    """Tests the network when training has ended."""

    def __init__(self, model: Model, data: Digits) -> None:
        self._results = [model.accuracy, model.global_step]
        self._feed = {model.images: data.images, model.labels: data.labels}
        self.accuracy = 0.0
        self.step = 0

    def end(self, session: Any) -> None:
        self.accuracy, self.step = session.run(self._results, feed_dict=self._feed)


def load_data() -> tuple[Digits, Digits]:
    """Return the images to train with and those to test with; the split is always the same."""
    images, labels = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(images))
    shuffled = Digits((images[order] / 16).astype(np.float32), labels[order].astype(np.int64))
    train = Digits(shuffled.images[TEST_IMAGES:], shuffled.labels[TEST_IMAGES:])
    test = Digits(shuffled.images[:TEST_IMAGES], shuffled.labels[:TEST_IMAGES])
    return train, test


def batches(data: Digits, size: int, seed: int) -> Iterator[Digits]:
    """Yield random batches for ever, every other one moved by up to a pixel: a moved digit is still the same digit."""
    random = np.random.RandomState(seed)
    while True:
        for reach in (0, 1):
            chosen = random.randint(len(data.images), size=size)
            shift = random.randint(-reach, reach + 1, size=2)
            images = np.roll(data.images[chosen].reshape(-1, 8, 8), shift, axis=(1, 2))
            yield Digits(images.reshape(-1, 64), data.labels[chosen])


def dense(inputs: Any, name: str, inputs_size: int, outputs_size: int) -> Any:
    """Return inputs x weights + biases."""
    with tf.name_scope(name):
        scale = inputs_size**-0.5
        weights = tf.Variable(tf.truncated_normal([inputs_size, outputs_size], stddev=scale), name="weights")
        biases = tf.Variable(tf.zeros([outputs_size]), name="biases")
        return tf.matmul(inputs, weights) + biases


def build_model(hidden_units: int, learning_rate: float) -> Model:
    """Build a network with one hidden layer, its loss and one step of Adagrad."""
    images = tf.placeholder(tf.float32, [None, 64], name="images")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    hidden = tf.nn.relu(dense(images, "hidden", 64, hidden_units))
    logits = dense(hidden, "output", hidden_units, 10)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
    is_right = tf.equal(tf.argmax(logits, 1), labels)
    accuracy = tf.reduce_mean(tf.cast(is_right, tf.float32), name="accuracy")
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdagradOptimizer(learning_rate).minimize(loss, global_step=global_step)
    return Model(images, labels, loss, accuracy, global_step, train_op)


def step_of_last_checkpoint() -> int:
    """Return the global step that training starts from: the last checkpoint's, or 0."""
    checkpoint = tf.train.latest_checkpoint(FLAGS.train_dir)
    state = Path(FLAGS.train_dir, "checkpoint")
    if checkpoint is None and state.is_file():
        sys.exit(f"digits.py: {state} names no checkpoint that is there; remove it to start from scratch")
    return int(checkpoint.rpartition("-")[2]) if checkpoint else 0


def train(cluster: Any, server: Any) -> None:
    """Do one worker's part."""
    is_chief = FLAGS.task_index == 0
    training_data, test_data = load_data()
    first_step = step_of_last_checkpoint()
    if is_chief:
        told = f"resuming from the checkpoint of step {first_step}" if first_step else "starting from scratch"
        print(f"{told}; checkpoints are in {FLAGS.train_dir}")

    worker = f"/job:worker/task:{FLAGS.task_index}"
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        model = build_model(FLAGS.hidden_units, FLAGS.learning_rate)

    test = TestHook(model, test_data)
    hooks = [
        tf.train.StopAtStepHook(last_step=first_step + FLAGS.train_steps),
        tf.train.LoggingTensorHook({"step": model.global_step, "loss": model.loss}, every_n_iter=200),
    ]
    batch = batches(training_data, FLAGS.batch_size, seed=first_step + FLAGS.task_index)
    started = None
    with tf.train.MonitoredTrainingSession(
        master=server.target,
        is_chief=is_chief,
        checkpoint_dir=FLAGS.train_dir,
        hooks=[*hooks, test] if is_chief else hooks,
        # A worker has no business with the other workers, and need not wait for them.
        config=tf.ConfigProto(device_filters=["/job:ps", worker]),
    ) as session:
        while not session.should_stop():
            images, labels = next(batch)
            feed = {model.images: images, model.labels: labels}
            _, step = session.run([model.train_op, model.global_step], feed_dict=feed)
            # The first step compiles the graph and is not counted.
            started = started or (step, time.perf_counter())
            ended = time.perf_counter()

    if is_chief and started:
        print(
            f"test accuracy {test.accuracy:.2%} after step {test.step}; all workers together made "
            f"{(test.step - started[0]) / (ended - started[1]):.0f} steps/s of {FLAGS.batch_size} images"
        )


def cluster_from_flags() -> dict[str, list[str]]:
    """Return the addresses by job; exit with one line if the flags make no sense."""
    hosts = {"ps": FLAGS.ps_hosts, "worker": FLAGS.worker_hosts}
    cluster = {job: addresses.split(",") for job, addresses in hosts.items() if addresses}
    if FLAGS.job_name not in hosts:
        sys.exit(f"digits.py: --job_name is 'ps' or 'worker', got {FLAGS.job_name!r}")
    tasks = cluster.get(FLAGS.job_name, [])
    if not 0 <= FLAGS.task_index < len(tasks):
        sys.exit(
            f"digits.py: --task_index={FLAGS.task_index} is no task of job {FLAGS.job_name!r}: "
            f"--{FLAGS.job_name}_hosts names {len(tasks)}"
        )
    if len(cluster.get("worker", [])) > 1 and "ps" not in cluster:
        sys.exit("digits.py: several workers need a parameter server to share the variables: --ps_hosts is empty")
    if FLAGS.train_steps < 1 or FLAGS.batch_size < 1 or FLAGS.hidden_units < 1:
        sys.exit("digits.py: --train_steps, --batch_size and --hidden_units are at least 1")
    return cluster


def main(_: list[str]) -> None:
    tf.logging.set_verbosity(tf.logging.INFO)
    cluster = tf.train.ClusterSpec(cluster_from_flags())
    try:
        server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
        if FLAGS.job_name == "ps":
            server.join()
        else:
            train(cluster, server)
    except tf.errors.OpError as error:
        sys.exit(f"digits.py: {type(error).__name__}: {error.message.splitlines()[0]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ps_hosts", default="", help="host:port of each parameter server, separated by commas")
    parser.add_argument("--worker_hosts", default="", help="host:port of each worker, separated by commas")
    parser.add_argument("--job_name", default="", help="this task's job: 'ps' or 'worker'")
    parser.add_argument("--task_index", type=int, default=0, help="this task's index within its job")
    parser.add_argument("--train_dir", default="runs/digits", help="directory for checkpoints (default %(default)s)")
    parser.add_argument("--train_steps", type=int, default=3000, help="steps of all workers together in this run")
    parser.add_argument("--batch_size", type=int, default=64, help="images per step")
    parser.add_argument("--hidden_units", type=int, default=256, help="size of the hidden layer")
    parser.add_argument("--learning_rate", type=float, default=0.1, help="learning rate of Adagrad")
    FLAGS = parser.parse_args()
    tf.app.run(main=main, argv=sys.argv[:1])

"""Tables on parameter servers, and a network whose gradients the workers sum themselves, in one program.

Shops guess whether a visitor buys: the visitor's and the article's rows of two large tables, which are on parameter servers,
go into a small network, of which each worker has a copy. A worker sends the gradients of the rows that it used to the servers.
Those of the network become one by a collective of XLA's over all workers, so that all copies stay the same.

    weft launch --ps 2 --worker 4 examples/hybrid.py

Visitors and articles are made up, always the same ones.
"""

import argparse

import numpy as np

import weft as tf

VISITORS, ARTICLES, WIDTH = 1000, 500, 8


def flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("ps_hosts", "worker_hosts", "job_name"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--task_index", type=int, required=True)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--batch", type=int, default=256, help="examples of each worker's step")
    return parser.parse_args()


def examples(worker: int, batch: int):
    """Batches without end, others for each worker: visitors and articles, [batch] int64, and who buys, [batch] float32."""
    drawn = np.random.RandomState(0)
    means, charms = drawn.normal(size=VISITORS), drawn.normal(size=ARTICLES)
    own = np.random.RandomState(1 + worker)
    while True:
        visitor, article = own.randint(VISITORS, size=batch), own.randint(ARTICLES, size=batch)
        buys = means[visitor] + charms[article] > 0
        yield visitor, article, buys.astype(np.float32)


def main() -> None:
    given = flags()
    cluster = tf.train.ClusterSpec({"ps": given.ps_hosts.split(","), "worker": given.worker_hosts.split(",")})
    if given.job_name == "ps":
        tf.train.Server(cluster, "ps", given.task_index).join()
        return
    # Blocks until all workers are there; before anything else of weft runs here.
    optimizer = tf.distribute.experimental.CollectiveAllReduceOptimizer(
        tf.train.AdamOptimizer(0.01), cluster, "worker", given.task_index, table_opt=tf.train.AdagradOptimizer(0.5)
    )
    server = tf.train.Server(cluster, "worker", given.task_index)

    start = tf.random_normal_initializer(stddev=0.3)
    with tf.device("/job:ps/task:0"):
        visitors = tf.get_variable("visitors", [VISITORS, WIDTH], initializer=start)
    with tf.device(f"/job:ps/task:{1 % len(given.ps_hosts.split(','))}"):
        articles = tf.get_variable("articles", [ARTICLES, WIDTH], initializer=start)
    with tf.device(optimizer.worker_device):
        visitor, article = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
        buys = tf.placeholder(tf.float32, [None])
        step = tf.train.get_or_create_global_step()
        rows = tf.concat([tf.nn.embedding_lookup(visitors, visitor), tf.nn.embedding_lookup(articles, article)], 1)
        hidden = tf.layers.dense(rows, 32, tf.nn.relu, name="hidden")
        logits = tf.squeeze(tf.layers.dense(hidden, 1, name="logits"), 1)
        loss = tf.losses.sigmoid_cross_entropy(buys, logits)
        right = tf.reduce_mean(tf.cast(tf.equal(logits > 0, buys > 0.5), tf.float32))
        train = optimizer.minimize(loss, global_step=step)
        copies = [each for each in tf.trainable_variables() if each.device.startswith("/job:worker")]
        weights = tf.concat([tf.reshape(each, [-1]) for each in copies], 0)

    hooks = [optimizer.make_session_run_hook(), tf.train.StopAtStepHook(last_step=given.steps)]
    batches = examples(given.task_index, given.batch)
    with tf.train.MonitoredTrainingSession(server.target, is_chief=optimizer.is_chief, hooks=hooks) as session:
        while not session.should_stop():
            feeds = dict(zip((visitor, article, buys), next(batches), strict=True))
            _, done, value, share, copy = session.run([train, step, loss, right, weights], feeds)
            if optimizer.is_chief and done % 50 == 0:
                print(f"step {done}: loss {value:.3f}, {share:.0%} right", flush=True)
    print(f"trained: loss {value:.3f}, {share:.0%} right, the copy's weights sum to {np.sum(copy):.5f}", flush=True)


if __name__ == "__main__":
    main()

"""Training in step with the workers that are there: the job begins with some, others join, and any may go and come back.

A number is learned for each of ten kinds of things from noisy examples. The examples come in shards, which a queue on the
parameter server hands out one by one; a shard whose worker dies goes to another one. An update is the mean of the gradients of
the workers that are there, and the chief's log says who has come and who is gone.

    weft launch --ps 1 --worker 3 --start 1 --restart on-failure examples/elastic.py

starts one worker of the three that there may be, and says how the others join:

    weft task --join grpc://127.0.0.1:PORT examples/elastic.py

Press Ctrl-C there, or kill a worker: training goes on without it.
"""

import argparse
import contextlib
import time
from collections.abc import Iterator

import numpy as np

import weft as tf

KINDS, EXAMPLES, BATCH = 10, 640, 32
TRUTH = np.linspace(-1.0, 1.0, KINDS).astype(np.float32)


def flags() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("ps_hosts", "worker_hosts", "job_name"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--task_index", type=int, required=True)
    parser.add_argument("--shards", type=int, default=100, help="parts of the input; each is read once")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two steps, so that there is time to watch")
    return parser.parse_args()


def batches(shard: bytes) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The examples of a shard: kinds [BATCH] int64, and values [BATCH] float32. A program of its own would read a file."""
    drawn = np.random.RandomState(int(shard))
    for _ in range(EXAMPLES // BATCH):
        kinds = drawn.randint(KINDS, size=BATCH)
        yield kinds, (TRUTH[kinds] + drawn.normal(scale=0.1, size=BATCH)).astype(np.float32)


def main() -> None:
    given = flags()
    cluster = tf.train.ClusterSpec({"ps": given.ps_hosts.split(","), "worker": given.worker_hosts.split(",")})
    server = tf.train.Server(cluster, given.job_name, given.task_index)
    if given.job_name == "ps":
        server.join()
        return
    me, workers = f"worker:{given.task_index}", cluster.num_tasks("worker")
    is_chief = given.task_index == 0
    tf.logging.set_verbosity(tf.logging.INFO)

    with tf.device("/job:ps/task:0"):
        shards = tf.train.ShardQueue([str(each) for each in range(given.shards)])
        take, take_late = shards.take(wait_for_others=False), shards.take()
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{given.task_index}", cluster=cluster)):
        kind, value = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
        step = tf.train.get_or_create_global_step()
        learned = tf.get_variable("learned", [KINDS], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.gather(learned, kind) - value))
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(0.5), workers, workers, min_num_replicas=1, replica_timeout_secs=2.0
        )
        train = optimizer.minimize(loss, global_step=step)
        pause = optimizer.end_replica_op()

    def next_shard(step_context: tf.train.MonitoredSession.StepContext) -> bytes:
        """Raises OutOfRangeError when all shards are done."""
        session = step_context.session
        try:
            return session.run(take)
        except tf.errors.OutOfRangeError:
            # The others have the last shards. Their updates must not wait for this worker, and one of them may yet die.
            with contextlib.suppress(tf.errors.CancelledError):  # the chief is done, and so is the job
                session.run(pause)
            return session.run(take_late)

    done, count, now = 0, 0, 0.0
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief, hooks=[optimizer.make_session_run_hook(is_chief)], save_summaries_steps=None
    ) as session:
        while not session.should_stop():
            # The end of all shards, an OutOfRangeError, ends the block.
            shard = session.run_step_fn(next_shard)
            print(f"{me} trains on shard {int(shard)}", flush=True)
            for kinds, values in batches(shard):
                done, now, _ = session.run([step, loss, train], {kind: kinds, value: values})
                time.sleep(given.pause)
            count += 1
    print(f"{me} is done with {count} shards: step {done}, loss {now:.3f}", flush=True)


if __name__ == "__main__":
    main()

"""An agent learns from preferences: what it is rewarded for is learnt in another process, while it plays.

Nobody tells the agent what is good. Its dots move about a square; of two of its moves' recordings a judge says which one it
likes better (here a program that likes dots near a point which the agent does not see; it could be a person). Worker 1 trains
a reward predictor on these comparisons. Worker 0, the agent and the chief, plays, asks the predictor as it is at that moment,
and improves its policy by what the predictor says. Recordings go from one to the other through a queue, and both networks
live on the parameter server; neither worker waits for the other.

    weft launch --ps 1 --worker 2 examples/preferences.py
    tensorboard --logdir runs/preferences

Christiano et al., "Deep reinforcement learning from human preferences", 2017, https://arxiv.org/abs/1706.03741.
"""

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np

import weft as tf

FLAGS = argparse.Namespace()
STEPS = 25  # of a recording
MOVES = np.array([[0, 0], [0.1, 0], [-0.1, 0], [0, 0.1], [0, -0.1]])
LIKED = np.array([0.5, -0.3])
# The share of the way from random moves to the best ones at which the agent has understood.
GOAL = 0.9


class Recordings(NamedTuple):
    """Some dots' moves: positions [n, STEPS, 2], moves [n, STEPS], and how the judge likes each position [n, STEPS]."""

    positions: np.ndarray
    moves: np.ndarray
    liked: np.ndarray


class Model(NamedTuple):
    """The tensors and ops of both workers; both build all of them."""

    positions: Any  # [n, 2] float32
    policy: Any  # [n, moves]: probabilities
    rewards: Any  # [n]: what the predictor says
    moves: Any  # [n] int32
    advantages: Any  # [n] float32
    improve: Any  # one update of the policy
    step: Any  # such updates
    better: Any  # [n, STEPS, 2] float32: the recordings that the judge likes better, and ...
    worse: Any  # ... those that it was shown beside them
    learn: Any  # one update of the predictor
    agreement: Any  # the share of comparisons in which the predictor agrees
    record: Any  # puts `recorded` and `recorded_liked` into the queue
    recorded: Any
    recorded_liked: Any
    waiting: Any  # recordings in the queue
    next_recording: Any
    comparisons: Any  # updates of the predictor
    is_over: Any
    end: Any


def network(inputs: Any, outputs: int, name: str) -> Any:
    """A network of one hidden layer, whose variables are those of its name."""
    with tf.variable_scope(name, reuse=tf.AUTO_REUSE):
        hidden = tf.layers.dense(inputs, 32, tf.tanh, name="hidden")
        return tf.layers.dense(hidden, outputs, name="output")


def predicted(positions: Any) -> Any:
    """The reward of each of [n, 2] positions."""
    return network(positions, 1, "reward")[:, 0]


def build_model() -> Model:
    positions = tf.placeholder(tf.float32, [None, 2], name="positions")
    moves = tf.placeholder(tf.int32, [None], name="moves")
    advantages = tf.placeholder(tf.float32, [None], name="advantages")
    logits = network(positions, len(MOVES), "policy")
    policy = tf.nn.softmax(logits)
    surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=moves, logits=logits)
    entropy = -tf.reduce_mean(tf.reduce_sum(policy * tf.nn.log_softmax(logits), axis=1))
    step = tf.train.get_or_create_global_step()
    improve = tf.train.AdamOptimizer(0.01).minimize(
        tf.reduce_mean(surprise * advantages) - 0.005 * entropy,
        step,
        tf.trainable_variables("policy"),
    )
    rewards = predicted(positions)

    better = tf.placeholder(tf.float32, [None, STEPS, 2], name="better")
    worse = tf.placeholder(tf.float32, [None, STEPS, 2], name="worse")
    totals = [tf.reduce_sum(tf.reshape(predicted(tf.reshape(each, [-1, 2])), [-1, STEPS]), 1) for each in (better, worse)]
    # The chance that the judge prefers a recording grows with how much more reward it has (Bradley and Terry, 1952).
    preference = totals[0] - totals[1]
    comparisons = tf.get_variable("comparisons", [], tf.int64, tf.zeros_initializer(), trainable=False)
    learn = tf.train.AdamOptimizer(0.003).minimize(
        tf.reduce_mean(tf.nn.softplus(-preference)), comparisons, tf.trainable_variables("reward")
    )
    agreement = tf.reduce_mean(tf.cast(preference > 0, tf.float32))

    with tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(256, [tf.float32, tf.float32], [[STEPS, 2], [STEPS]], shared_name="recordings")
    recorded = tf.placeholder(tf.float32, [None, STEPS, 2], name="recorded")
    recorded_liked = tf.placeholder(tf.float32, [None, STEPS], name="recorded_liked")
    is_over = tf.get_variable("is_over", [], tf.bool, tf.zeros_initializer(), trainable=False)
    end = tf.group(is_over.assign(True), queue.close(cancel_pending_enqueues=True))
    return Model(
        positions, policy, rewards, moves, advantages, improve, step, better, worse, learn, agreement,
        queue.enqueue_many([recorded, recorded_liked]), recorded, recorded_liked, queue.size(), queue.dequeue(),
        comparisons, is_over, end,
    )  # fmt: skip


def play(choose: Any, random: np.random.RandomState, dots: int) -> Recordings:
    """Let dots move from random places; `choose` tells the move of each from their positions."""
    now = random.uniform(-1, 1, (dots, 2))
    positions, moves, liked = [], [], []
    for _ in range(STEPS):
        chosen = choose(now)
        positions.append(now)
        moves.append(chosen)
        now = np.clip(now + MOVES[chosen], -1, 1)
        liked.append(-np.linalg.norm(now - LIKED, axis=1))
    return Recordings(*(np.stack(each, axis=1) for each in (positions, moves, liked)))


def best_moves(positions: np.ndarray) -> np.ndarray:
    """The moves of an agent that knows what the judge likes."""
    after = positions[:, np.newaxis] + MOVES
    return np.argmin(np.linalg.norm(after - LIKED, axis=2), axis=1)


def drawn(policy: np.ndarray, random: np.random.RandomState) -> np.ndarray:
    """A move of each row of probabilities."""
    below = np.cumsum(policy, axis=1) < random.uniform(size=(len(policy), 1))
    return np.minimum(below.sum(axis=1), policy.shape[1] - 1)


def advantages_of(rewards: np.ndarray, discount: float = 0.9) -> np.ndarray:
    """How much better than the other dots at this step each one fares from there on."""
    ahead = np.zeros_like(rewards)
    following = np.zeros(len(rewards))
    for step in reversed(range(rewards.shape[1])):
        following = rewards[:, step] + discount * following
        ahead[:, step] = following
    return (ahead - ahead.mean(axis=0)) / (ahead.std() + 1e-6)


def agent(session: Any, model: Model, writer: Any) -> None:
    """Play, improve, and hand recordings over; end both workers once the moves are good."""
    random = np.random.RandomState(0)
    worst = play(lambda now: random.randint(len(MOVES), size=len(now)), random, 2000).liked.mean()
    best = play(best_moves, random, 2000).liked.mean()
    share, step, comparisons = 0.0, 0, 0
    while share < GOAL and step < FLAGS.max_steps:
        played = play(lambda now: drawn(session.run(model.policy, {model.positions: now}), random), random, FLAGS.dots)
        if session.run(model.waiting) < 128:
            session.run(model.record, {model.recorded: played.positions[:16], model.recorded_liked: played.liked[:16]})
        positions = played.positions.reshape(-1, 2)
        rewards = session.run(model.rewards, {model.positions: positions}).reshape(-1, STEPS)
        # A move earns what the dot has at its next place; the last one's place was not recorded.
        rewards = np.concatenate([rewards[:, 1:], rewards[:, -1:]], axis=1)
        feed = {
            model.positions: positions,
            model.moves: played.moves.reshape(-1),
            model.advantages: advantages_of(rewards).reshape(-1),
        }
        _, step, comparisons = session.run([model.improve, model.step, model.comparisons], feed)
        share = (played.liked.mean() - worst) / (best - worst)
        if step % 20 == 0:
            writer.add_summary(tf.Summary(value=[{"tag": "share of the best", "simple_value": share}]), step)
            writer.flush()
            print(
                f"step {step}: {share:.0%} of the way to the best moves, after {comparisons} lessons of the predictor",
                flush=True,
            )
    session.run(model.end)
    if share < GOAL:
        sys.exit(f"preferences.py: only {share:.0%} of the way after {step} steps")
    print(f"understood after {step} steps: {share:.0%} of the way to the best moves; {comparisons} lessons of the predictor")


def teacher(session: Any, model: Model, writer: Any) -> None:
    """Ask the judge about pairs of recordings, and train the predictor on the answers, until the agent ends it."""
    random = np.random.RandomState(1)
    positions: list[np.ndarray] = []
    liked: list[float] = []
    is_over = False
    while not is_over:
        while len(positions) < 16 or session.run(model.waiting):
            try:
                recording, likes = session.run(model.next_recording)
            except tf.errors.OutOfRangeError:  # closed, at the end
                return
            positions, liked = [*positions[-1000:], recording], [*liked[-1000:], float(likes.sum())]
        pairs = random.randint(len(positions), size=(64, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        likes = np.array(liked)[pairs]
        better, worse = np.where((likes[:, 0] > likes[:, 1])[:, np.newaxis], pairs, pairs[:, ::-1]).T
        feed = {model.better: np.stack([positions[i] for i in better]), model.worse: np.stack([positions[i] for i in worse])}
        _, agreement, lessons, is_over = session.run([model.learn, model.agreement, model.comparisons, model.is_over], feed)
        if lessons % 200 == 0:
            writer.add_summary(tf.Summary(value=[{"tag": "agreement with the judge", "simple_value": agreement}]), lessons)
            writer.flush()


def work(cluster: Any, server: Any) -> None:
    """Do one worker's part."""
    worker = f"/job:worker/task:{FLAGS.task_index}"
    tf.set_random_seed(1)
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        model = build_model()
    with (
        tf.summary.FileWriter(f"{FLAGS.train_dir}/{'teacher' if FLAGS.task_index else 'agent'}") as writer,
        tf.train.MonitoredTrainingSession(
            master=server.target,
            is_chief=FLAGS.task_index == 0,
            checkpoint_dir=FLAGS.train_dir,
            save_checkpoint_secs=30,
            log_step_count_steps=None,
            config=tf.ConfigProto(device_filters=["/job:ps", worker]),
        ) as session,
    ):
        (teacher if FLAGS.task_index else agent)(session, model, writer)


def main(_: list[str]) -> None:
    if FLAGS.worker_hosts.count(",") != 1:
        sys.exit("preferences.py: there are two workers, the agent and the teacher of the reward predictor")
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    else:
        work(cluster, server)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ps_hosts", required=True, help="host:port of each parameter server, separated by commas")
    parser.add_argument("--worker_hosts", required=True, help="host:port of both workers, separated by commas")
    parser.add_argument("--job_name", required=True, choices=["ps", "worker"], help="this task's job")
    parser.add_argument("--task_index", type=int, required=True, help="this task's index within its job")
    parser.add_argument("--train_dir", default="runs/preferences", help="directory for checkpoints and curves")
    parser.add_argument("--dots", type=int, default=32, help="dots that the agent moves at once")
    parser.add_argument("--max_steps", type=int, default=3000, help="give up after so many updates of the policy")
    FLAGS = parser.parse_args()
    tf.app.run(main=main, argv=sys.argv[:1])

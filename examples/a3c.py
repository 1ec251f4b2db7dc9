"""Solve CartPole by asynchronous advantage actor-critic (A3C): many workers play, and train one policy together.

Each worker has an environment of its own and a copy of the network. It copies the shared parameters, which live on the
parameter servers, plays a stretch of steps with them, and applies the gradients of that stretch to the shared parameters
without waiting for the others. The chief is worker 0: it initializes or restores the parameters and saves checkpoints.
All stop as soon as one worker's last 100 episodes lasted 475 steps on average, which is how CartPole-v1 is solved.

    weft launch --ps 1 --worker 3 examples/a3c.py
    tensorboard --logdir runs/a3c

With --lstm the network remembers: its observation then lacks the velocities. Mnih et al., "Asynchronous Methods for Deep
Reinforcement Learning", 2016, https://arxiv.org/abs/1602.01783; advantages are estimated as in https://arxiv.org/abs/1506.02438.
"""

import argparse
import collections
import sys
import time
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import weft as tf

FLAGS = argparse.Namespace()
EPISODES = 100
# Of position, velocity, angle and angular velocity: all, or those that a network without memory cannot do with.
ALL, WITHOUT_VELOCITIES = [0, 1, 2, 3], [0, 2]


class Network(NamedTuple):
    """A policy and a critic; T is the number of steps, 1 when it acts."""

    observations: Any  # [T, observed] float32
    state: Any  # [2, 1, units]: the LSTM's c and h before the first step, or None
    logits: Any  # [T, actions]
    values: Any  # [T]
    next_state: Any
    variables: list[Any]


class Learner(NamedTuple):
    """The ops and placeholders by which a worker takes part."""

    local: Network
    copy: Any  # the shared parameters into the local network
    actions: Any  # [T] int32
    advantages: Any  # [T] float32
    returns: Any  # [T] float32
    weights: Any  # [T] float32: 0 where a stretch is shorter than T
    played: Any  # scalar int64: the steps of a stretch
    update: Any
    step: Any  # steps of all environments together
    is_solved: Any
    solve: Any


class Stretch(NamedTuple):
    """Some steps in a row of one episode."""

    observations: np.ndarray
    actions: np.ndarray
    rewards: np.ndarray
    values: np.ndarray  # of each observation, and of the one after the last
    state: Any


def dense(inputs: Any, units: int, name: str, scale: float, where: list[str]) -> Any:
    """Return inputs x kernel + bias, with orthogonal kernels, which this algorithm likes."""
    with tf.variable_scope(name):
        shape = [inputs.shape[-1].value, units]
        kernel = tf.get_variable("kernel", shape, initializer=tf.orthogonal_initializer(scale), collections=where)
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer(), collections=where)
        return tf.matmul(inputs, kernel) + bias


def build_network(observed: int, actions: int, name: str, collection: str) -> Network:
    """Build policy and critic, whose variables go into the collection."""
    where = [collection]
    with tf.variable_scope(name) as scope:
        observations = tf.placeholder(tf.float32, [None, observed], name="observations")
        features, state, next_state = observations, None, None
        if FLAGS.lstm:
            state = tf.placeholder(tf.float32, [2, 1, FLAGS.units], name="state")

            def to_collection(getter: Any, *args: Any, **kwargs: Any) -> Any:
                return getter(*args, **{**kwargs, "collections": where})

            with tf.variable_scope("memory", custom_getter=to_collection):
                before = tf.nn.rnn_cell.LSTMStateTuple(state[0], state[1])
                cell = tf.nn.rnn_cell.LSTMCell(FLAGS.units)
                outputs, after = tf.nn.dynamic_rnn(cell, observations[tf.newaxis], initial_state=before)
                features, next_state = outputs[0], tf.stack(after)
        policy = tf.tanh(dense(features, FLAGS.units, "policy_hidden", 1.0, where))
        critic = tf.tanh(dense(features, FLAGS.units, "critic_hidden", 1.0, where))
        logits = dense(policy, actions, "policy", 0.01, where)
        values = dense(critic, 1, "value", 1.0, where)[:, 0]
        return Network(observations, state, logits, values, next_state, tf.get_collection(collection, scope.name + "/"))


def build_learner(cluster: Any, observed: int, actions: int) -> Learner:
    """Build the shared network on the parameter servers, this worker's on itself, and one update of the shared one."""
    worker = f"/job:worker/task:{FLAGS.task_index}"
    with tf.device(tf.train.replica_device_setter(worker_device=worker, cluster=cluster)):
        shared = build_network(observed, actions, "shared", tf.GraphKeys.GLOBAL_VARIABLES)
        step = tf.train.get_or_create_global_step()
        is_solved = tf.get_variable("solved", [], tf.bool, tf.zeros_initializer(), trainable=False)
        # Both fade, so that the policy settles.
        left = tf.maximum(0.0, 1.0 - tf.cast(step, tf.float32) / FLAGS.fading_steps)
        optimizer = tf.train.AdamOptimizer(FLAGS.learning_rate * tf.maximum(left, 0.05))
    with tf.device(worker):
        local = build_network(observed, actions, f"local_{FLAGS.task_index}", tf.GraphKeys.LOCAL_VARIABLES)
        pairs = list(zip(local.variables, shared.variables, strict=True))
        copy = tf.group(*[mine.assign(theirs) for mine, theirs in pairs])

        chosen = tf.placeholder(tf.int32, [None], name="actions")
        advantages = tf.placeholder(tf.float32, [None], name="advantages")
        returns = tf.placeholder(tf.float32, [None], name="returns")
        weights = tf.placeholder(tf.float32, [None], name="weights")
        played = tf.reduce_sum(tf.cast(weights, tf.int64))

        surprise = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=chosen, logits=local.logits)
        log_policy = tf.nn.log_softmax(local.logits)
        entropy = -tf.reduce_sum(tf.exp(log_policy) * log_policy, axis=1)
        losses = surprise * advantages + 0.5 * tf.square(returns - local.values) - FLAGS.entropy * left * entropy
        loss = tf.reduce_sum(weights * losses) / tf.reduce_sum(weights)
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, local.variables), 0.5)

    with tf.control_dependencies([optimizer.apply_gradients(zip(gradients, shared.variables, strict=True))]):
        update = step.assign_add(played)
    return Learner(local, copy, chosen, advantages, returns, weights, played, update, step, is_solved, is_solved.assign(True))


class Player:
    """Plays episodes with the local network, a stretch at a time."""

    def __init__(self, environment: Any, learner: Learner, seed: int) -> None:
        self._environment = environment
        self._network = learner.local
        self._observed = WITHOUT_VELOCITIES if FLAGS.lstm else ALL
        self._random = np.random.RandomState(seed)
        self._seed: int | None = seed
        self._acted = [tf.nn.softmax(learner.local.logits), learner.local.values]
        self.returns: collections.deque[float] = collections.deque(maxlen=EPISODES)
        self._start()

    def _start(self) -> None:
        observation, _ = self._environment.reset(seed=self._seed)
        self._seed = None
        self._observation = observation[self._observed]
        self._state = np.zeros((2, 1, FLAGS.units), np.float32)
        self._return = 0.0

    def play(self, session: Any) -> Stretch:
        """Play until the stretch is full or the episode ends."""
        state, observations, actions, rewards, values = self._state, [], [], [], []
        is_over = is_cut = False
        while len(actions) < FLAGS.stretch and not (is_over or is_cut):
            policy, value = self._ask(session)
            action = int(self._random.choice(len(policy), p=policy / policy.sum()))
            observations.append(self._observation)
            actions.append(action)
            values.append(value)
            after, reward, is_over, is_cut, _ = self._environment.step(action)
            rewards.append(reward)
            self._observation = after[self._observed]
            self._return += float(reward)
        # An episode that is cut by its time limit would have gone on: its last observation still has its value.
        values.append(0.0 if is_over else self._ask(session)[1])
        if is_over or is_cut:
            self.returns.append(self._return)
            self._start()
        return Stretch(np.array(observations), np.array(actions), np.array(rewards), np.array(values), state)

    def _ask(self, session: Any) -> tuple[np.ndarray, float]:
        """The probability of each action, and the value of the present observation."""
        feed = {self._network.observations: self._observation[np.newaxis]}
        if self._network.state is None:
            policy, value = session.run(self._acted, feed)
        else:
            feed[self._network.state] = self._state
            (policy, value), self._state = session.run([self._acted, self._network.next_state], feed)
        return policy[0].astype(np.float64), float(value[0])


def advantages_of(stretch: Stretch) -> np.ndarray:
    """The generalized advantage estimate of each step: discounted sums of what was better than the critic expected."""
    surprises = stretch.rewards + FLAGS.discount * stretch.values[1:] - stretch.values[:-1]
    found, ahead = np.zeros(len(surprises)), 0.0
    for index in reversed(range(len(surprises))):
        ahead = surprises[index] + FLAGS.discount * FLAGS.smoothing * ahead
        found[index] = ahead
    return found


def padded(values: np.ndarray) -> np.ndarray:
    """Fill up to the full stretch, so that all updates have one shape."""
    return np.pad(values, [(0, FLAGS.stretch - len(values))] + [(0, 0)] * (values.ndim - 1))


def feed_of(learner: Learner, stretch: Stretch) -> dict[Any, np.ndarray]:
    advantages = advantages_of(stretch)
    feed = {
        learner.local.observations: padded(stretch.observations),
        learner.actions: padded(stretch.actions),
        learner.advantages: padded(advantages),
        learner.returns: padded(advantages + stretch.values[:-1]),
        learner.weights: padded(np.ones(len(advantages))),
    }
    if learner.local.state is not None:
        feed[learner.local.state] = stretch.state
    return feed


def train(cluster: Any, server: Any) -> None:
    """Do one worker's part."""
    environment = gymnasium.make("CartPole-v1")
    observed = len(WITHOUT_VELOCITIES if FLAGS.lstm else ALL)
    tf.set_random_seed(FLAGS.seed)
    learner = build_learner(cluster, observed, environment.action_space.n)
    player = Player(environment, learner, FLAGS.seed + FLAGS.task_index)

    def play_and_learn(step_context: Any) -> tuple[int, bool]:
        # The plain session: hooks see updates, not each of the environment's steps.
        step_context.session.run(learner.copy)
        stretch = player.play(step_context.session)
        return step_context.session.run([learner.update, learner.is_solved], feed_of(learner, stretch))

    is_chief = FLAGS.task_index == 0
    writer = tf.summary.FileWriter(f"{FLAGS.train_dir}/worker_{FLAGS.task_index}", tf.get_default_graph())
    started, told = time.perf_counter(), 0
    with (
        writer,
        tf.train.MonitoredTrainingSession(
            master=server.target,
            is_chief=is_chief,
            checkpoint_dir=FLAGS.train_dir,
            save_checkpoint_secs=30,
            config=tf.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{FLAGS.task_index}"]),
        ) as session,
    ):
        step, is_solved = 0, False
        while not is_solved and step < FLAGS.max_steps:
            step, is_solved = session.run_step_fn(play_and_learn)
            average = float(np.mean(player.returns)) if player.returns else 0.0
            if step - told >= 5000:
                told = step
                writer.add_summary(tf.Summary(value=[{"tag": "average return", "simple_value": average}]), step)
                writer.flush()
                print(f"step {step}: the last {len(player.returns)} episodes lasted {average:.0f} steps on average", flush=True)
            if len(player.returns) == EPISODES and average >= FLAGS.goal:
                session.run_step_fn(lambda step_context: step_context.session.run(learner.solve))
                print(
                    f"solved after {step} steps in {time.perf_counter() - started:.0f} s: {average:.1f} on average", flush=True
                )
                return
    if not is_solved:
        sys.exit(f"a3c.py: not solved after {step} steps: {average:.1f} steps on average")


def main(_: list[str]) -> None:
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    else:
        train(cluster, server)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ps_hosts", required=True, help="host:port of each parameter server, separated by commas")
    parser.add_argument("--worker_hosts", required=True, help="host:port of each worker, separated by commas")
    parser.add_argument("--job_name", required=True, choices=["ps", "worker"], help="this task's job")
    parser.add_argument("--task_index", type=int, required=True, help="this task's index within its job")
    parser.add_argument("--train_dir", default="runs/a3c", help="directory for checkpoints and curves (default %(default)s)")
    parser.add_argument("--lstm", action="store_true", help="hide the velocities and give the network a memory")
    parser.add_argument("--units", type=int, default=64, help="units of each hidden layer")
    parser.add_argument("--stretch", type=int, default=128, help="steps between two updates")
    parser.add_argument("--learning_rate", type=float, default=0.004, help="learning rate of Adam at first")
    parser.add_argument("--discount", type=float, default=0.99, help="worth of the next step's reward")
    parser.add_argument("--smoothing", type=float, default=0.95, help="lambda of the advantage estimate")
    parser.add_argument("--entropy", type=float, default=0.01, help="weight of the policy's entropy in the loss, at first")
    parser.add_argument("--fading_steps", type=int, default=300_000, help="steps in which learning rate and entropy fade")
    parser.add_argument("--goal", type=float, default=475.0, help="the average return at which it is solved")
    parser.add_argument("--max_steps", type=int, default=1_000_000, help="give up after so many steps")
    parser.add_argument("--seed", type=int, default=1, help="seed of the initial values and the environments")
    FLAGS = parser.parse_args()
    tf.app.run(main=main, argv=sys.argv[:1])

"""What a user waits for at the beginning of training: the time until 100 steps are done, and the longest of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import profile
from benchmarks.framework import framework, have_code_made_beside_steps
from benchmarks.programs import models
from benchmarks.timing import Sample, once

STEPS, AGENT_STEPS = 100, 1000


def mlp() -> Sample:
    """Seconds of the first 100 steps of 784-100-10 with Adam, batches of 64."""
    return _until_100_steps(_perceptron)


def cnn() -> Sample:
    """Seconds of the first 100 steps of two 3x3 convolutions of 8 and 16 channels with Adam, batches of 32."""
    return _until_100_steps(_convolutional)


def static_rnn() -> Sample:
    """Seconds of the first 100 steps of a recurrent network that is unrolled 20 times, with Adam."""
    return _until_100_steps(_unrolled)


def dynamic_rnn() -> Sample:
    """Seconds of the first 100 steps of a recurrent network in a while_loop of 10 iterations, with Adam."""
    return _until_100_steps(_looping)


def embedding() -> Sample:
    """Seconds of the first 100 steps of 256 of 10,000x16 looked-up rows and two dense layers, with Adagrad."""
    return _until_100_steps(_looked_up)


def deep_q() -> Sample:
    """Seconds of the first 1,000 steps of an agent whose deep Q network answers one observation and trains on 32."""
    have_code_made_beside_steps()
    tf = framework()
    seen, values, step, batch = _deep_q(tf)
    observation = np.zeros([1, 4], np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = time.perf_counter()
        with profile.whole():
            for _ in range(AGENT_STEPS):
                session.run(values, {seen: observation})
                session.run(step, batch)
        return once(time.perf_counter() - start)


def gradient_check() -> Sample:
    """Seconds of tf.test.compute_gradient for a dense layer and a softmax, 500 elements by 300: 1,300 runs."""
    tf = framework()
    have_code_made_beside_steps()
    generator = np.random.default_rng(0)
    values = generator.random((100, 5), np.float32)
    with tf.Session():
        x = tf.constant(values)
        y = tf.nn.softmax(tf.tanh(tf.matmul(x, tf.constant(generator.random((5, 3), np.float32)))))
        start = time.perf_counter()
        with profile.whole():
            tf.test.compute_gradient(x, [100, 5], y, [100, 3], x_init_value=values)
        return once(time.perf_counter() - start)


def changing_batches() -> Sample:
    """Seconds of 60 steps of that convolutional network on 60 sizes of a batch."""
    tf = framework()
    have_code_made_beside_steps()
    images, labels, step = _convolutions(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = time.perf_counter()
        with profile.whole():
            for size in range(8, 68):
                pixels, digits = models.digits(size)
                session.run(step, {images: pixels.reshape(-1, 28, 28, 1), labels: digits})
        return once(time.perf_counter() - start)


def changing_episodes() -> Sample:
    """Seconds of 39 steps of a recurrent actor and critic on episodes of 39 lengths, as an agent begins."""
    tf = framework()
    have_code_made_beside_steps()
    seen, returns, actions, step = _actor_critic(tf)
    generator = np.random.default_rng(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = time.perf_counter()
        with profile.whole():
            for length in generator.permutation(np.arange(2, 41)):
                episode = {seen: generator.random((length, 16)), returns: generator.random(length)}
                session.run(step, {**episode, actions: generator.integers(0, 4, length)})
        return once(time.perf_counter() - start)


def _until_100_steps(build: Callable[[Any], tuple[Any, dict[Any, Any]]]) -> Sample:
    have_code_made_beside_steps()
    tf = framework()
    step, feed = build(tf)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = time.perf_counter()
        with profile.whole():
            for _ in range(STEPS):
                session.run(step, feed)
        return once(time.perf_counter() - start)


def _perceptron(tf: Any) -> tuple[Any, dict[Any, Any]]:
    images, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.int32, [None])
    loss = models.cross_entropy(tf, models.perceptron(tf, images, 100), labels)
    return tf.train.AdamOptimizer(0.001).minimize(loss), dict(zip((images, labels), models.digits(64), strict=True))


def _convolutions(tf: Any) -> tuple[Any, Any, Any]:
    images, labels = tf.placeholder(tf.float32, [None, 28, 28, 1]), tf.placeholder(tf.int32, [None])
    x = images
    for name, shape in (("first", [3, 3, 1, 8]), ("second", [3, 3, 8, 16])):
        filters, _ = models.layered_weights(tf, name, shape)
        x = tf.nn.relu(tf.nn.conv2d(x, filters, strides=[1, 1, 1, 1], padding="SAME"))
        x = tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    logits = models.dense(tf, "output", tf.reshape(x, [-1, 7 * 7 * 16]), 7 * 7 * 16, 10)
    return images, labels, tf.train.AdamOptimizer(0.001).minimize(models.cross_entropy(tf, logits, labels))


def _convolutional(tf: Any) -> tuple[Any, dict[Any, Any]]:
    images, labels, step = _convolutions(tf)
    pixels, digits = models.digits(32)
    return step, {images: pixels.reshape(-1, 28, 28, 1), labels: digits}


def _recurrent(tf: Any, run: Callable[[Any, Callable[[Any, Any], Any], Any], Any]) -> tuple[Any, dict[Any, Any]]:
    x, wanted = tf.placeholder(tf.float32, [10, 16, 8]), tf.placeholder(tf.float32, [16, 32])
    weight, bias = models.layered_weights(tf, "cell", [8 + 32, 32])

    def cell(each: Any, state: Any) -> Any:
        return tf.tanh(tf.matmul(tf.concat([each, state], 1), weight) + bias)

    loss = tf.reduce_mean(tf.square(run(x, cell, tf.zeros([16, 32])) - wanted))
    generator = np.random.default_rng(0)
    fed = {x: generator.random((10, 16, 8), np.float32), wanted: generator.random((16, 32), np.float32)}
    return tf.train.AdamOptimizer(0.001).minimize(loss), fed


def _unrolled(tf: Any) -> tuple[Any, dict[Any, Any]]:
    def run(x: Any, cell: Callable[[Any, Any], Any], state: Any) -> Any:
        for time_step in range(20):
            state = cell(x[time_step % 10], state)
        return state

    return _recurrent(tf, run)


def _looping(tf: Any) -> tuple[Any, dict[Any, Any]]:
    def run(x: Any, cell: Callable[[Any, Any], Any], state: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 10, lambda i, state: (i + 1, cell(x[i], state)), [0, state])[1]

    return _recurrent(tf, run)


def _actor_critic(tf: Any) -> tuple[Any, Any, Any, Any]:
    """A state of 32 that goes from look to look, and of each the value and the chances of four actions; clipped, with Adam."""
    seen, returns = tf.placeholder(tf.float32, [None, 16]), tf.placeholder(tf.float32, [None])
    actions = tf.placeholder(tf.int32, [None])
    weight, bias = models.layered_weights(tf, "cell", [16 + 32, 32])
    length = tf.shape(seen)[0]

    def look(at: Any, state: Any, states: Any) -> tuple[Any, Any, Any]:
        state = tf.tanh(tf.matmul(tf.concat([seen[at : at + 1], state], 1), weight) + bias)
        return at + 1, state, states.write(at, state[0])

    states = tf.TensorArray(tf.float32, length, element_shape=[32])
    states = tf.while_loop(lambda at, *_: at < length, look, [0, tf.zeros([1, 32]), states])[2].stack()
    value = models.dense(tf, "value", states, 32, 1)[:, 0]
    chances = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=models.dense(tf, "policy", states, 32, 4))
    gained = tf.stop_gradient(returns - value)
    loss = tf.reduce_sum(chances * gained) + tf.reduce_sum(tf.square(returns - value))
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 40.0)
    step = tf.train.AdamOptimizer(0.001).apply_gradients(list(zip(gradients, variables, strict=True)))
    return seen, returns, actions, step


def _deep_q(tf: Any) -> tuple[Any, Any, Any, dict[Any, Any]]:
    """Two layers of 64 that value two actions, and the same once more with older weights for what comes after; with Adam."""
    seen, seen_then = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 4])
    actions, rewards = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])

    def valued(name: str, x: Any) -> Any:
        hidden = tf.nn.relu(models.dense(tf, f"{name}_first", x, 4, 64))
        return models.dense(tf, f"{name}_values", tf.nn.relu(models.dense(tf, f"{name}_second", hidden, 64, 64)), 64, 2)

    values = valued("online", seen)
    wanted = tf.stop_gradient(rewards + 0.99 * tf.reduce_max(valued("target", seen_then), 1))
    loss = tf.reduce_mean(tf.square(wanted - tf.reduce_sum(values * tf.one_hot(actions, 2), 1)))
    step = tf.train.AdamOptimizer(0.001).minimize(loss)
    generator = np.random.default_rng(0)
    looks = {each: generator.random((32, 4), np.float32) for each in (seen, seen_then)}
    return seen, values, step, {**looks, actions: generator.integers(0, 2, 32), rewards: generator.random(32, np.float32)}


def _looked_up(tf: Any) -> tuple[Any, dict[Any, Any]]:
    ids = tf.placeholder(tf.int32, [None])
    table, _ = models.layered_weights(tf, "table", [10_000, 16])
    hidden = tf.nn.relu(models.dense(tf, "hidden", tf.nn.embedding_lookup(table, ids), 16, 32))
    loss = tf.reduce_mean(tf.square(models.dense(tf, "output", hidden, 32, 1) - 1.0))
    return tf.train.AdagradOptimizer(0.1).minimize(loss), {ids: models.random_ids(256, 10_000)}

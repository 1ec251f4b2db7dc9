"""Small training programs, one of each kind that people write: what they build is given to TensorFlow to train on.

A program builds in the default graph and returns its loss, its training operation, and the feeds of a step. Its numbers come
from `_values`, so that every run of it has the same losses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import weft as tf


@dataclass
class Program:
    """What is run, three times: the loss is fetched with the training operation. `extra` is fetched, and not compared."""

    loss: Any
    train: Any
    feeds: dict[Any, Any] = field(default_factory=dict)
    extra: list[Any] = field(default_factory=list)
    before: list[Any] = field(default_factory=list)


PROGRAMS: dict[str, Callable[[], Program]] = {}


def _program(build: Callable[[], Program]) -> Callable[[], Program]:
    PROGRAMS[build.__name__] = build
    return build


def _values(*shape: int, seed: int = 0) -> Any:
    return np.random.RandomState(seed + sum(shape)).uniform(-0.8, 0.8, shape).astype(np.float32)


def _variable(name: str, *shape: int, **options: Any) -> Any:
    return tf.get_variable(name, initializer=tf.constant(_values(*shape, seed=len(name))), **options)


def _descend(loss: Any, rate: float = 0.1) -> Any:
    return tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=tf.train.get_or_create_global_step())


def _labels(count: int, classes: int) -> Any:
    return np.arange(count) % classes


@_program
def mlp() -> Program:
    x, y = tf.placeholder(tf.float32, [None, 6], name="x"), tf.placeholder(tf.int64, [None], name="y")
    hidden = tf.nn.relu(tf.matmul(x, _variable("w1", 6, 8)) + _variable("b1", 8))
    hidden = tf.tanh(tf.nn.bias_add(tf.matmul(hidden, _variable("w2", 8, 8)), _variable("b2", 8)))
    logits = tf.matmul(hidden, _variable("w3", 8, 3)) + _variable("b3", 3)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    return Program(loss, train, {x: _values(5, 6), y: _labels(5, 3)})


@_program
def cnn() -> Program:
    x, y = tf.placeholder(tf.float32, [None, 8, 8, 2], name="x"), tf.placeholder(tf.float32, [None, 3], name="y")
    net = tf.nn.relu(tf.nn.conv2d(x, _variable("k1", 3, 3, 2, 4), [1, 1, 1, 1], "SAME") + _variable("b1", 4))
    net = tf.nn.max_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    net = tf.nn.conv2d(net, _variable("k2", 2, 2, 4, 4), [1, 1, 1, 1], "VALID")
    net = tf.nn.depthwise_conv2d(net, _variable("k3", 2, 2, 4, 1), [1, 1, 1, 1], "SAME")
    net = tf.nn.avg_pool(net, [1, 2, 2, 1], [1, 1, 1, 1], "VALID")
    net = tf.nn.elu(tf.nn.bias_add(net, _variable("b2", 4)))
    logits = tf.matmul(tf.reshape(net, [-1, 16]), _variable("w", 16, 3))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=logits))
    return Program(loss, _descend(loss), {x: _values(4, 8, 8, 2), y: np.eye(3, dtype=np.float32)[_labels(4, 3)]})


@_program
def batch_norm() -> Program:
    x = tf.placeholder(tf.float32, [None, 4, 4, 3], name="x")
    training = tf.placeholder_with_default(True, [], name="training")
    net = tf.layers.batch_normalization(x * _variable("scale", 3), training=training, fused=True)
    net = tf.layers.batch_normalization(tf.reduce_sum(net, [1, 2]), training=training, fused=False)
    loss = tf.reduce_mean(tf.square(net * _variable("w", 3) - 1.0))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = _descend(loss)
    return Program(loss, train, {x: _values(5, 4, 4, 3)})


@_program
def embedding() -> Program:
    ids = tf.placeholder(tf.int32, [None, 3], name="ids")
    table = _variable("table", 10, 4)
    looked_up = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
    bags = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], tf.constant([1, 2, 1, 9], tf.int64), [4, 2])
    looked_up += tf.nn.embedding_lookup_sparse(table, bags, None, combiner="mean")
    loss = tf.reduce_sum(tf.square(tf.matmul(looked_up, _variable("w", 4, 2)) - 0.5))
    return Program(loss, tf.train.AdamOptimizer(0.05).minimize(loss), {ids: _labels(12, 7).reshape(4, 3)})


@_program
def static_rnn() -> Program:
    x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
    cell = tf.nn.rnn_cell.BasicLSTMCell(5)
    outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs[-1] - 0.3)) + tf.reduce_sum(state.c**2)
    return Program(loss, _descend(loss), {x: _values(2, 4, 3)})


@_program
def dynamic_rnn() -> Program:
    x, lengths = tf.placeholder(tf.float32, [None, None, 3], name="x"), tf.placeholder(tf.int32, [None], name="lengths")
    outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, lengths, dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs)) + tf.reduce_mean(tf.abs(state - 0.2))
    return Program(loss, _descend(loss), {x: _values(2, 5, 3), lengths: np.array([5, 3])})


@_program
def stacked_lstm() -> Program:
    x = tf.placeholder(tf.float32, [3, 4, 2], name="x")
    cells = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4, use_peepholes=True), tf.nn.rnn_cell.LSTMCell(3)])
    outputs, _ = tf.nn.dynamic_rnn(cells, x, dtype=tf.float32)
    loss = tf.losses.mean_squared_error(tf.ones([3, 4, 3]), outputs)
    gradients, variables = zip(*tf.train.AdamOptimizer(0.02).compute_gradients(loss), strict=True)
    clipped, _ = tf.clip_by_global_norm(gradients, 0.5)
    return Program(
        loss, tf.train.AdamOptimizer(0.02).apply_gradients(zip(clipped, variables, strict=True)), {x: _values(3, 4, 2)}
    )


@_program
def while_loop() -> Program:
    w, x = _variable("w", 3, 3), tf.placeholder(tf.float32, [2, 3], name="x")
    _, result = tf.while_loop(lambda i, _: i < 4, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w)) + x), [0, x])
    loss = tf.reduce_sum(tf.square(result))
    return Program(loss, _descend(loss, 0.02), {x: _values(2, 3)})


@_program
def nested_loops() -> Program:
    w, count = _variable("w", 4), tf.placeholder(tf.int32, [], name="count")

    def outer(i: Any, total: Any) -> Any:
        _, inner = tf.while_loop(lambda j, _: j < i + 1, lambda j, v: (j + 1, tf.sin(v * w)), [0, total])
        return i + 1, inner + tf.cond(tf.equal(i % 2, 0), lambda: w * total, lambda: w + total)

    _, result = tf.while_loop(lambda i, _: i < count, outer, [0, tf.ones([4])])
    loss = tf.reduce_mean(result**2)
    return Program(loss, _descend(loss, 0.05), {count: 3})


@_program
def cond() -> Program:
    w, x = _variable("w", 3), tf.placeholder(tf.float32, [3], name="x")
    steps = tf.train.get_or_create_global_step()
    value = tf.cond(tf.equal(steps % 2, 0), lambda: tf.exp(w) * x, lambda: w * tf.sigmoid(x * w))
    value += tf.case([(steps > 1, lambda: tf.square(w))], default=lambda: w / 2.0)
    loss = tf.reduce_sum(value)
    return Program(loss, _descend(loss), {x: _values(3)})


@_program
def cond_that_updates() -> Program:
    w, calls = _variable("w", 3), tf.get_variable("calls", [], initializer=tf.zeros_initializer(), trainable=False)
    loss = tf.reduce_sum(tf.square(w))
    update = tf.cond(loss > 0.1, lambda: tf.assign_add(calls, 2.0), lambda: tf.assign_sub(calls, 1.0))
    with tf.control_dependencies([update]):
        total = loss + tf.identity(calls)
    return Program(total, _descend(loss))


@_program
def map_fn_and_scan() -> Program:
    w, x = _variable("w", 3), tf.placeholder(tf.float32, [None, 3], name="x")
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row * w) * row, x)
    scanned = tf.scan(lambda a, row: tf.tanh(a * w + row), x, initializer=tf.zeros([3]))
    folded = tf.foldl(lambda a, row: a * 0.5 + row * w, x, initializer=tf.zeros([3]))
    loss = tf.reduce_sum(tf.square(mapped)) + tf.reduce_mean(scanned) + tf.reduce_sum(folded)
    return Program(loss, _descend(loss), {x: _values(4, 3)})


@_program
def tensor_array() -> Program:
    w, x = _variable("w", 3), tf.placeholder(tf.float32, [4, 3], name="x")
    inputs = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
    results = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)

    def body(i: Any, array: Any) -> Any:
        return i + 1, array.write(i, inputs.read(i) * w + inputs.read(3 - i))

    _, results = tf.while_loop(lambda i, _: i < 4, body, [0, results])
    loss = tf.reduce_sum(tf.square(results.stack())) + tf.reduce_sum(results.gather([0, 2]))
    return Program(loss, _descend(loss), {x: _values(4, 3)})


@_program
def queue_input() -> Program:
    samples, labels = tf.train.slice_input_producer([_values(12, 4), _values(12, 1, seed=3)], shuffle=False)
    x, y = tf.train.batch([samples, labels], batch_size=4)
    loss = tf.losses.mean_squared_error(y, tf.matmul(x, _variable("w", 4, 1)))
    return Program(loss, _descend(loss))


@_program
def dataset_input() -> Program:
    data = tf.data.Dataset.from_tensor_slices((_values(12, 4), _values(12, 1, seed=3))).repeat().batch(4).prefetch(1)
    iterator = data.make_initializable_iterator()
    x, y = iterator.get_next()
    loss = tf.losses.mean_squared_error(y, tf.matmul(x, _variable("w", 4, 1)))
    return Program(loss, _descend(loss), before=[iterator.initializer])


@_program
def metrics() -> Program:
    x, y = tf.placeholder(tf.float32, [None, 4], name="x"), tf.placeholder(tf.int64, [None], name="y")
    logits = tf.matmul(x, _variable("w", 4, 2))
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    predicted = tf.argmax(logits, 1)
    made = [
        tf.metrics.accuracy(y, predicted), tf.metrics.mean(loss), tf.metrics.auc(y, tf.nn.softmax(logits)[:, 1]),
        tf.metrics.precision(y, predicted), tf.metrics.recall(y, predicted), tf.metrics.mean_iou(y, predicted, 2),
        tf.metrics.root_mean_squared_error(tf.cast(y, tf.float32), logits[:, 0]),
    ]  # fmt: skip
    feeds = {x: _values(6, 4), y: _labels(6, 2)}
    return Program(loss, _descend(loss), feeds, [value for value, _ in made] + [update for _, update in made])


@_program
def losses() -> Program:
    x, weights = tf.placeholder(tf.float32, [None, 3], name="x"), tf.placeholder(tf.float32, [None, 1], name="weights")
    y, z = tf.sigmoid(x * _variable("w", 3)), tf.ones_like(x)
    tf.losses.absolute_difference(z, y, weights)
    tf.losses.cosine_distance(tf.nn.l2_normalize(z, 1), tf.nn.l2_normalize(y, 1), axis=1)
    tf.losses.hinge_loss(z, y)
    tf.losses.huber_loss(z, y, weights)
    tf.losses.log_loss(z, y)
    tf.losses.mean_pairwise_squared_error(z, y)
    tf.losses.sigmoid_cross_entropy(z, y, weights)
    tf.losses.softmax_cross_entropy(z / 3.0, y)
    loss = tf.losses.get_total_loss()
    return Program(loss, _descend(loss), {x: _values(4, 3), weights: np.ones((4, 1), np.float32) * 0.5})


def _each_optimizer() -> list[Any]:
    train = tf.train
    return [
        train.GradientDescentOptimizer(0.01), train.MomentumOptimizer(0.01, 0.9, use_nesterov=True),
        train.AdagradOptimizer(0.01), train.AdadeltaOptimizer(0.1), train.AdamOptimizer(0.01),
        train.RMSPropOptimizer(0.01, centered=True), train.RMSPropOptimizer(0.01, momentum=0.5), train.FtrlOptimizer(0.01),
        train.ProximalGradientDescentOptimizer(0.01),
        train.ProximalAdagradOptimizer(0.01), train.AdagradDAOptimizer(0.01, train.get_or_create_global_step()),
    ]  # fmt: skip


@_program
def optimizers() -> Program:
    tf.train.get_or_create_global_step()
    w = [_variable(f"w{number}", 4, 2) for number in range(11)]
    loss = tf.add_n([tf.reduce_mean(tf.square(each - 0.1)) for each in w])
    train = [optimizer.minimize(loss, var_list=[each]) for optimizer, each in zip(_each_optimizer(), w, strict=True)]
    return Program(loss, tf.group(*train))


@_program
def sparse_optimizers() -> Program:
    tf.train.get_or_create_global_step()
    ids = tf.placeholder(tf.int64, [None], name="ids")
    w = [_variable(f"w{number}", 6, 2, use_resource=bool(number % 2)) for number in range(11)]
    loss = tf.add_n([tf.reduce_mean(tf.square(tf.gather(each, ids) - 0.1)) for each in w])
    train = [optimizer.minimize(loss, var_list=[each]) for optimizer, each in zip(_each_optimizer(), w, strict=True)]
    return Program(loss, tf.group(*train), {ids: np.array([1, 3, 1, 0])})


@_program
def saver() -> Program:
    loss = tf.reduce_sum(tf.square(_variable("w", 3, 2)))
    train = _descend(loss)
    tf.train.Saver(max_to_keep=2)
    return Program(loss, train)


@_program
def partitioned_variables() -> Program:
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        w = tf.get_variable("w", [6, 2], initializer=tf.random_uniform_initializer(seed=5))
        table = tf.get_variable("table", [9, 2], initializer=tf.random_normal_initializer(seed=6))
    looked_up = tf.nn.embedding_lookup(table, tf.constant([0, 4, 8, 4]), partition_strategy="div")
    loss = tf.reduce_sum(tf.square(tf.matmul(x, w))) + tf.reduce_sum(looked_up**2)
    return Program(loss, tf.train.AdagradOptimizer(0.1).minimize(loss), {x: _values(4, 6)})


@_program
def sync_replicas() -> Program:
    loss = tf.reduce_sum(tf.square(_variable("w", 3))) + tf.reduce_sum(tf.gather(_variable("table", 4, 2), [0, 2, 0]))
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, total_num_replicas=1)
    train = optimizer.minimize(loss, global_step=step)
    tf.train.add_queue_runner(optimizer.get_chief_queue_runner())
    # Without tokens in store each step waits for its own update: with one, which of the two comes first is a race.
    return Program(loss, train, before=[optimizer.chief_init_op, optimizer.get_init_tokens_op(0)])


@_program
def rest_of_sparse_and_ragged() -> Program:
    w = _variable("w", 3)
    sparse = tf.SparseTensor([[1, 0], [0, 2], [0, 1]], w, [2, 3])
    joined = tf.sparse.concat(1, [sparse, tf.sparse.reorder(sparse)])
    rows = tf.gather(tf.RaggedTensor.from_row_splits(w, [0, 2, 2, 3]), [2, 0])
    turned = tf.signal.fft(tf.complex(w, w * w))
    loss = tf.reduce_sum(tf.square(tf.sparse.reduce_sum(joined, 1))) + tf.reduce_sum(tf.square(rows.values) * [1.0, 2.0, 3.0])
    loss += tf.reduce_sum(tf.square(tf.abs(turned)))
    return Program(loss, _descend(loss, 0.01))


@_program
def layers() -> Program:
    x = tf.placeholder(tf.float32, [None, 8, 8, 3], name="x")
    net = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.separable_conv2d(net, 4, 2)
    net = tf.layers.conv2d_transpose(net, 3, 2, strides=2)
    net = tf.layers.dense(tf.layers.flatten(net), 5, kernel_regularizer=tf.keras.regularizers.l2(0.01), activation=tf.nn.selu)
    net = tf.layers.dropout(net, 0.5, training=True, seed=4)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(net, 2) - 1.0)) + tf.losses.get_regularization_loss()
    return Program(loss, _descend(loss, 0.01), {x: _values(3, 8, 8, 3)})


@_program
def keras_layers() -> Program:
    x = tf.keras.Input([6], name="x")
    net = tf.keras.layers.Dense(8, activation="relu")(x)
    net = tf.keras.layers.BatchNormalization()(net, training=True)
    net = tf.keras.layers.Dense(3, activation="softmax")(net)
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    loss = tf.reduce_mean(tf.keras.losses.categorical_crossentropy(y, net))
    return Program(loss, _descend(loss), {x: _values(4, 6), y: np.eye(3, dtype=np.float32)[_labels(4, 3)]})


@_program
def keras_lstm() -> Program:
    x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
    net = tf.keras.layers.Embedding(5, 3)(tf.constant([[1, 2, 0, 4], [3, 3, 1, 0]])) + x
    net = tf.keras.layers.LSTM(4, return_sequences=True)(net)
    net = tf.keras.layers.GRU(3)(net)
    loss = tf.reduce_mean(tf.square(net - 0.5))
    return Program(loss, _descend(loss), {x: _values(2, 4, 3)})


@_program
def loops_in_branches() -> Program:
    w, x = _variable("w", 3, use_resource=True), tf.placeholder(tf.float32, [3], name="x")

    def grown(a: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 3, lambda i, v: (i + 1, v * w + 0.1), [0, a])[1]

    chosen = tf.cond(tf.reduce_sum(x) > 0.0, lambda: grown(x * w), lambda: grown(x) - w)
    loss = tf.reduce_sum(tf.square(chosen))
    return Program(loss, _descend(loss, 0.02), {x: _values(3)})


@_program
def summaries() -> Program:
    w = _variable("w", 3, 4)
    loss = tf.reduce_sum(tf.square(w))
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("w", w)
    tf.summary.image("picture", tf.reshape(tf.tile(tf.sigmoid(w), [4, 1]), [1, 4, 4, 3]))
    tf.summary.text("note", tf.constant("a word"))
    return Program(loss, _descend(loss), extra=[tf.summary.merge_all()])


@_program
def shapes() -> Program:
    w, x = _variable("w", 3, 4), tf.placeholder(tf.float32, None, name="x")
    parts = [
        tf.reduce_max(w * x, axis=1), tf.reduce_min(w - x, axis=[0]), tf.reduce_prod(w, axis=1, keepdims=True),
        tf.reduce_mean(w + x), tf.reduce_logsumexp(w * x), tf.norm(w), tf.math.reduce_std(w),
        tf.transpose(w)[1:3, ::2], tf.concat([w, w * x], 1)[:, 2:6], tf.stack([w, w])[1], tf.pad(w, [[1, 0], [0, 2]]) ** 2,
        tf.tile(w, [2, 1]) * 2.0, tf.cumsum(w, axis=1), tf.cumprod(w, axis=0), tf.gather(w, [0, 2, 0], axis=1),
        tf.gather_nd(w, [[0, 1], [2, 3], [0, 1]]), tf.maximum(w, x), tf.minimum(w, 0.1), tf.where(w > x, w, w * w), tf.abs(w),
        tf.split(w, 2, axis=1)[1], tf.unstack(w)[2] * 3.0, tf.slice(w, [0, 1], [2, 2]), tf.squeeze(tf.expand_dims(w, 0)),
        tf.broadcast_to(w, [2, 3, 4]) ** 2, tf.clip_by_value(w, -0.2, 0.3), tf.reverse(w, [0]) * x, tf.linalg.diag_part(w),
        tf.segment_sum(w, [0, 0, 1]) ** 2, tf.unsorted_segment_sum(w, [1, 0, 1], 2) ** 2, tf.segment_mean(w, [0, 0, 1]) ** 2,
        tf.dynamic_stitch([[0], [1]], [w[:1], w[1:2]]), tf.tensordot(w, w, [[1], [1]]), tf.einsum("ij,kj->ik", w, w),
        tf.pow(tf.abs(w) + 0.5, x), tf.sqrt(w * w + 1.0), tf.log1p(w * w), tf.erf(w), tf.nn.softplus(w), tf.nn.log_softmax(w),
        tf.nn.leaky_relu(w), tf.nn.relu6(w), tf.nn.top_k(w, 2)[0], tf.scatter_nd([[0], [3]], w[:2], [5, 4]),
        tf.floormod(w, 0.3),
        tf.dynamic_partition(w, [0, 1, 0], 2)[0], tf.nn.l2_loss(w), tf.nn.l2_normalize(w, 1), tf.nn.moments(w, [0])[1],
        tf.matrix_band_part(tf.matmul(w, w, transpose_b=True), 0, -1), tf.squared_difference(w, x), tf.meshgrid(w[0], w[1])[0],
    ]  # fmt: skip
    loss = tf.add_n([tf.reduce_sum(part) for part in parts]) * 0.01
    return Program(loss, _descend(loss, 0.01), {x: np.float32(0.25)})


@_program
def second_order() -> Program:
    w, x = _variable("w", 4), tf.placeholder(tf.float32, [None, 4], name="x")
    inner = tf.reduce_mean(tf.tanh(x * w) ** 2)
    gradient = tf.gradients(inner, w)[0]
    loss = inner + tf.reduce_sum(tf.square(gradient))
    return Program(loss, _descend(loss), {x: _values(3, 4)})


@_program
def moving_average_and_decay() -> Program:
    w, step = _variable("w", 4), tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(w - 2.0))
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True) + tf.train.piecewise_constant(
        step, [1, 2], [0.1, 0.05, 0.0]
    )
    train = tf.train.RMSPropOptimizer(rate).minimize(loss, global_step=step)
    average = tf.train.ExponentialMovingAverage(0.9, step)
    with tf.control_dependencies([train]):
        return Program(loss, average.apply([w]), extra=[average.average(w)])


@_program
def sampled_softmax() -> Program:
    x, y = tf.placeholder(tf.float32, [3, 4], name="x"), tf.placeholder(tf.int64, [3, 1], name="y")
    sampled = (tf.constant([1, 4, 7], tf.int64), tf.fill([3, 1], 0.4), tf.constant([0.2, 0.3, 0.4]))
    w, b = _variable("w", 9, 4), _variable("b", 9)
    loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(w, b, y, x, 3, 9, sampled_values=sampled))
    return Program(loss, _descend(loss), {x: _values(3, 4), y: _labels(3, 9).reshape(3, 1)})


@_program
def ctc() -> Program:
    x = tf.placeholder(tf.float32, [6, 2, 4], name="x")
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [0, 2, 1], [2, 2])
    loss = tf.reduce_mean(tf.nn.ctc_loss(labels, x * _variable("w", 4), [6, 5]))
    return Program(loss, _descend(loss), {x: _values(6, 2, 4)})


@_program
def sparse_matmul() -> Program:
    w = _variable("w", 5, 3)
    sparse = tf.SparseTensor([[0, 1], [2, 4], [3, 0]], tf.constant([1.0, -2.0, 0.5]), [4, 5])
    loss = tf.reduce_mean(tf.square(tf.sparse_tensor_dense_matmul(sparse, w))) + tf.reduce_sum(tf.sparse.to_dense(sparse))
    return Program(loss, _descend(loss))

"""More training programs, as those of `training_programs`: whole models as people publish them, and what surrounds these."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from tests.interop.training_programs import Program, _descend, _labels, _program, _values, _variable


def _glorot(seed: int) -> tf.keras.initializers.Initializer:
    return tf.glorot_uniform_initializer(seed=seed)


@_program
def separable_convolutions() -> Program:
    x = tf.placeholder(tf.float32, [2, 9, 9, 3], name="x")
    net = tf.nn.separable_conv2d(x, _variable("deep", 3, 3, 3, 2), _variable("wide", 1, 1, 6, 4), [1] * 4, "SAME", rate=[2, 2])
    starts = {"depthwise_initializer": _glorot(2), "pointwise_initializer": _glorot(3)}
    net = tf.layers.separable_conv2d(net, 5, 3, 2, depth_multiplier=2, activation=tf.nn.relu6, **starts)
    rows = tf.layers.separable_conv1d(tf.reduce_mean(net, 1), 3, 2, **starts)
    loss = tf.reduce_mean(tf.square(rows - 0.2)) + tf.reduce_mean(net)
    return Program(loss, _descend(loss), {x: _values(2, 9, 9, 3)})


@_program
def gru_with_attention_by_hand() -> Program:
    x, y = tf.placeholder(tf.float32, [2, 5, 4], name="x"), tf.placeholder(tf.float32, [2, 3, 4], name="y")
    with tf.variable_scope("model", initializer=_glorot(3)):
        memory, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, dtype=tf.float32, sequence_length=[5, 2])
        cell, mask = tf.nn.rnn_cell.GRUCell(4, name="decoder"), tf.sequence_mask([5, 2], 5, tf.float32)
        query = tf.layers.Dense(4, use_bias=False, name="query")
        words = tf.TensorArray(tf.float32, 3).unstack(tf.transpose(y, [1, 0, 2]))

        def step(i: Any, h: Any, said: Any, seen: Any) -> Any:
            scores = tf.einsum("bth,bh->bt", memory, query(h)) - 1e9 * (1.0 - mask)
            weights = tf.nn.softmax(scores)
            context = tf.einsum("bt,bth->bh", weights, memory)
            output, h = cell(tf.concat([words.read(i), context], 1), h)
            return i + 1, h, said.write(i, output), seen.write(i, weights)

        arrays = [tf.TensorArray(tf.float32, 3, element_shape=shape) for shape in ([2, 4], [2, 5])]
        _, _, said, seen = tf.while_loop(
            lambda i, *_: i < 3, step, [0, state, *arrays], swap_memory=True, parallel_iterations=4
        )
    loss = tf.reduce_mean(tf.square(said.stack() - 0.3)) + tf.reduce_mean(tf.square(tf.reduce_sum(seen.stack(), 0)))
    return Program(loss, tf.train.AdamOptimizer(0.02).minimize(loss), {x: _values(2, 5, 4), y: _values(2, 3, 4)})


@_program
def beam_search_by_hand() -> Program:
    width, words = 3, 6
    moves = _variable("moves", words, words)

    def step(i: Any, scores: Any, last: Any, kept: Any) -> Any:
        grown = scores[:, None] + tf.nn.log_softmax(tf.gather(moves, last))
        best, places = tf.nn.top_k(tf.reshape(grown, [-1]), width)
        parents, chosen = places // words, places % words
        return i + 1, best, chosen, tf.concat([tf.gather(kept, parents), chosen[:, None]], 1)

    first = [0, tf.constant([0.0, -50.0, -60.0]), tf.zeros([width], tf.int32), tf.zeros([width, 0], tf.int32)]
    shapes = [tf.TensorShape([]), tf.TensorShape([width]), tf.TensorShape([width]), tf.TensorShape([width, None])]
    _, scores, _, kept = tf.while_loop(lambda i, *_: i < 4, step, first, shapes)
    loss = tf.reduce_mean(-scores) + tf.reduce_sum(moves**2) * 0.01
    return Program(loss, _descend(loss, 0.05), extra=[kept])


@_program
def data_that_is_mapped_and_windowed() -> Program:
    data = tf.data.Dataset.range(24).map(lambda i: tf.cast(i, tf.float32) / 24.0, 2)
    data = data.window(3, 1, 1, True).flat_map(lambda window: window.batch(3, drop_remainder=True))
    data = data.filter(lambda row: row[0] < 0.8).zip((data, tf.data.Dataset.range(100)))
    data = (
        data.map(lambda row, i: {"row": row, "is_odd": tf.equal(i % 2, 1)})
        .shuffle(8, seed=3, reshuffle_each_iteration=False)
        .repeat()
        .batch(4, True)
    )
    batch = data.make_one_shot_iterator().get_next()
    signs = tf.where(batch["is_odd"], tf.ones([4]), -tf.ones([4]))
    loss = tf.reduce_mean(tf.square(tf.squeeze(tf.matmul(batch["row"], _variable("w", 3, 1)), 1) - signs))
    return Program(loss, _descend(loss))


@_program
def sparse_embeddings_in_parts() -> Program:
    ids = tf.sparse_placeholder(tf.int64, [3, 4], name="ids")
    weights = tf.SparseTensor(ids.indices, tf.placeholder(tf.float32, [None], name="weights"), ids.dense_shape)
    partitioner = tf.variable_axis_size_partitioner(64)
    with tf.variable_scope("parts", partitioner=partitioner, initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=4)):
        table = tf.get_variable("table", [11, 4])
    rows = [tf.nn.embedding_lookup_sparse(table, ids, weights, combiner=each) for each in ("sum", "mean", "sqrtn")]
    rows.append(tf.nn.safe_embedding_lookup_sparse(table, ids, weights, default_id=2))
    loss = tf.add_n([tf.reduce_mean(tf.square(row - 0.1)) for row in rows])
    train = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.001).minimize(loss)
    feeds = {
        ids.indices: [[0, 0], [0, 3], [1, 1], [1, 2]],
        ids.values: [7, 1, 10, 7],
        weights.values: [1.0, 0.5, 2.0, 1.5],
    }
    return Program(loss, train, feeds)


@_program
def pictures_augmented_in_data() -> Program:
    def augmented(picture: Any, label: Any) -> Any:
        image = tf.image
        picture = image.resize_image_with_crop_or_pad(picture, 8, 8)
        picture = image.pad_to_bounding_box(image.central_crop(picture, 0.75), 1, 1, 9, 9)
        picture = image.adjust_brightness(image.adjust_saturation(picture, 1.5), 0.1)
        picture = image.resize_images(image.flip_up_down(picture), [6, 6], image.ResizeMethod.BICUBIC)
        return tf.clip_by_value(picture, 0.0, 1.0), tf.one_hot(label, 3)

    pictures = np.random.RandomState(0).rand(6, 9, 7, 3).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices((pictures, _labels(6, 3))).map(augmented).cache().repeat().batch(4).prefetch(2)
    iterator = data.make_initializable_iterator()
    x, y = iterator.get_next()
    net = tf.layers.conv2d(x, 3, 3, kernel_initializer=_glorot(2), activation=tf.nn.relu)
    loss = tf.losses.softmax_cross_entropy(y, tf.reduce_mean(net, [1, 2]), label_smoothing=0.1)
    return Program(loss, _descend(loss), before=[iterator.initializer])


@_program
def cells_of_contrib() -> Program:
    x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
    rnn = tf.contrib.rnn
    cells = [
        rnn.LayerNormBasicLSTMCell(4), rnn.UGRNNCell(4), rnn.IntersectionRNNCell(3), rnn.NASCell(4), rnn.GRUBlockCellV2(4),
        rnn.LSTMBlockCell(4), rnn.CoupledInputForgetGateLSTMCell(4), rnn.AttentionCellWrapper(tf.nn.rnn_cell.LSTMCell(4), 2),
        rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(3)), tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.BasicRNNCell(3)),
    ]  # fmt: skip
    parts = []
    for number, cell in enumerate(cells):
        with tf.variable_scope(f"cell{number}", initializer=_glorot(number)):
            outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, sequence_length=[4, 3])
            parts.append(tf.reduce_mean(tf.square(outputs - 0.1)))
    loss = tf.add_n(parts)
    return Program(loss, _descend(loss), {x: _values(2, 4, 3)})


@_program
def averages_of_a_trained_model() -> Program:
    w, step = _variable("w", 4, 2), tf.train.get_or_create_global_step()
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 0.5))
    average = tf.train.ExponentialMovingAverage(0.8, step, zero_debias=True)
    with tf.control_dependencies([_descend(loss)]):
        update = average.apply([w, loss])
    smoothed = tf.reduce_mean(tf.square(tf.matmul(x, average.average(w)) - 0.5))
    tf.train.Saver(average.variables_to_restore([w]), name="averages")
    return Program(loss, update, {x: _values(3, 4)}, extra=[smoothed, average.average(loss)])


@_program
def rates_of_all_kinds() -> Program:
    step, train = tf.train.get_or_create_global_step(), tf.train
    rates = [
        train.exponential_decay(0.1, step, 2, 0.5, staircase=True), train.exponential_decay(0.1, step, 2, 0.5),
        train.natural_exp_decay(0.1, step, 2, 0.5, staircase=True), train.inverse_time_decay(0.1, step, 2, 0.5),
        train.polynomial_decay(0.1, step, 2, 0.01, 2.0, cycle=True), train.cosine_decay(0.1, step, 5),
        train.cosine_decay_restarts(0.1, step, 2), train.linear_cosine_decay(0.1, step, 5),
        train.piecewise_constant(step, [0, 1], [0.1, 0.05, 0.02]),
    ]  # fmt: skip
    w = _variable("w", len(rates))
    loss = tf.reduce_mean(tf.square(w - 0.3)) * 5.0
    taken = tf.assign_sub(w, tf.stack(rates) * tf.gradients(loss, w)[0])
    with tf.control_dependencies([taken]):
        return Program(loss, tf.assign_add(step, 1).op, extra=rates)


@_program
def attention_with_many_heads() -> Program:
    x, mask = tf.placeholder(tf.float32, [2, 5, 8], name="x"), tf.sequence_mask([5, 3], 5)
    q, k, v = (tf.einsum("btd,dhe->bhte", x, _variable(name, 8, 2, 4)) for name in ("q", "key", "value"))
    scores = tf.einsum("bhqe,bhke->bhqk", q, k) / np.sqrt(4.0)
    ahead = tf.linalg.band_part(tf.ones([5, 5]), -1, 0)
    allowed = tf.cast(mask, tf.float32)[:, None, None, :] * ahead
    weights = tf.nn.softmax(scores + (1.0 - allowed) * -1e9)
    mixed = tf.einsum("bhqk,bhke,hed->bqd", weights, v, _variable("out", 2, 4, 8))
    net = tf.contrib.layers.layer_norm(x + tf.nn.dropout(mixed, rate=0.2, seed=3), begin_norm_axis=-1)
    net = tf.contrib.layers.layer_norm(net + tf.layers.dense(net, 8, tf.nn.elu, kernel_initializer=_glorot(3)))
    loss = tf.losses.mean_squared_error(tf.roll(x, 1, 1), net, tf.cast(mask, tf.float32)[:, :, None])
    optimizer = tf.train.AdamOptimizer(0.02, epsilon=1e-4)
    pairs = [(tf.clip_by_norm(gradient, 0.3), variable) for gradient, variable in optimizer.compute_gradients(loss)]
    return Program(loss, optimizer.apply_gradients(pairs), {x: _values(2, 5, 8)})


@_program
def generator_and_discriminator() -> Program:
    real, noise = tf.placeholder(tf.float32, [4, 3], name="real"), tf.random_normal([4, 2], seed=5)

    def judged(picture: Any) -> Any:
        with tf.variable_scope("judge", reuse=tf.AUTO_REUSE, initializer=_glorot(2)):
            return tf.layers.dense(tf.layers.dense(picture, 5, tf.nn.leaky_relu, name="hidden"), 1, name="score")

    with tf.variable_scope("artist", initializer=_glorot(4)):
        made = tf.layers.dense(tf.layers.dense(noise, 4, tf.nn.tanh), 3)
    scores, doubts = judged(real), judged(made)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits
    judge = tf.reduce_mean(
        entropy(labels=tf.ones_like(scores), logits=scores) + entropy(labels=tf.zeros_like(doubts), logits=doubts)
    )
    artist = tf.reduce_mean(entropy(labels=tf.ones_like(doubts), logits=doubts))
    (slope,) = tf.gradients(scores, real)
    judge += 0.5 * tf.reduce_mean(tf.square(tf.norm(slope, axis=1) - 1.0))
    steps = [
        tf.train.AdamOptimizer(0.01, 0.5, name=name).minimize(loss, var_list=tf.trainable_variables(name))
        for name, loss in (("judge", judge), ("artist", artist))
    ]
    return Program(judge + artist, tf.group(*steps), {real: _values(4, 3)})


@_program
def variational_autoencoder() -> Program:
    x = tf.placeholder(tf.float32, [4, 6], name="x")
    hidden = tf.layers.dense(x, 6, tf.nn.softplus, kernel_initializer=_glorot(3))
    mean, scale = tf.split(tf.layers.dense(hidden, 4, kernel_initializer=_glorot(4)), 2, 1)
    posterior, prior = tf.distributions.Normal(mean, tf.nn.softplus(scale) + 0.1), tf.distributions.Normal(0.0, 1.0)
    code = posterior.sample(seed=7)
    decoded = tf.layers.dense(code, 6, kernel_initializer=_glorot(5))
    likelihood = tf.reduce_sum(tf.distributions.Bernoulli(logits=decoded).log_prob(tf.cast(x > 0.0, tf.float32)), 1)
    loss = tf.reduce_mean(tf.reduce_sum(tf.distributions.kl_divergence(posterior, prior), 1) - likelihood)
    return Program(loss, tf.train.RMSPropOptimizer(0.01).minimize(loss), {x: _values(4, 6)})


@_program
def values_of_actions() -> Program:
    seen, later = (tf.placeholder(tf.float32, [5, 3], name=name) for name in ("seen", "later"))
    actions, rewards = tf.placeholder(tf.int32, [5], name="actions"), tf.placeholder(tf.float32, [5], name="rewards")

    def valued(states: Any, name: str) -> Any:
        with tf.variable_scope(name, reuse=tf.AUTO_REUSE, initializer=_glorot(3)):
            return tf.layers.dense(tf.layers.dense(states, 4, tf.nn.relu, name="hidden"), 2, name="values")

    chosen = tf.gather_nd(valued(seen, "online"), tf.stack([tf.range(5), actions], 1))
    best = tf.argmax(valued(later, "online"), 1, output_type=tf.int32)
    targets = rewards + 0.9 * tf.reduce_sum(valued(later, "target") * tf.one_hot(best, 2), 1)
    errors = tf.stop_gradient(targets) - chosen
    loss = tf.losses.huber_loss(tf.stop_gradient(targets), chosen, delta=0.3)
    step = tf.train.get_or_create_global_step()
    train = tf.train.RMSPropOptimizer(0.02).minimize(loss, step, tf.trainable_variables("online"))
    pairs = list(zip(tf.trainable_variables("target"), tf.trainable_variables("online"), strict=True))
    with tf.control_dependencies([train]):
        follow = tf.cond(tf.equal(step % 2, 0), lambda: tf.group(*[a.assign(0.5 * a + 0.5 * b) for a, b in pairs]), tf.no_op)
    feeds = {seen: _values(5, 3), later: _values(5, 3, seed=9), actions: [0, 1, 1, 0, 1], rewards: _values(5)}
    return Program(loss, follow, feeds, [errors])


@_program
def words_of_noise() -> Program:
    words = tf.placeholder(tf.string, [4], name="words")
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b", "c", "d", "e"], num_oov_buckets=2)
    vectors = _variable("vectors", 7, 3)
    weights, biases = _variable("weights", 7, 3), tf.get_variable("biases", [7], initializer=tf.zeros_initializer())
    ids = table.lookup(words)
    labels = tf.expand_dims((ids + 1) % 7, 1)
    drawn = tf.nn.fixed_unigram_candidate_sampler(labels, 1, 3, True, 7, unigrams=[1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 1.0], seed=4)
    loss = tf.reduce_mean(
        tf.nn.nce_loss(weights, biases, labels, tf.nn.embedding_lookup(vectors, ids), 3, 7, sampled_values=drawn)
    )
    train = tf.train.AdagradOptimizer(0.3).minimize(loss)
    return Program(loss, train, {words: ["a", "c", "unheard", "e"]})


@_program
def pictures_over_time() -> Program:
    x = tf.placeholder(tf.float32, [2, 3, 4, 4, 2], name="x")
    cell = tf.contrib.rnn.ConvLSTMCell(2, [4, 4, 2], 3, [3, 3])
    with tf.variable_scope("model", initializer=_glorot(2)):
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        net = tf.layers.conv3d(outputs, 2, 2, kernel_initializer=_glorot(3), activation=tf.nn.crelu)
        net = tf.layers.max_pooling3d(net, [2, 1, 1], 1)
        net = tf.layers.conv3d_transpose(net, 2, [1, 2, 2], kernel_initializer=_glorot(5))
    loss = tf.reduce_mean(tf.square(net - 0.1))
    return Program(loss, _descend(loss), {x: _values(2, 3, 4, 4, 2)})


@_program
def gradients_gathered_over_steps() -> Program:
    x, step = tf.placeholder(tf.float32, [3, 4], name="x"), tf.train.get_or_create_global_step()
    w = _variable("w", 4, 2, use_resource=True)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 0.5))
    gathered = tf.get_variable("gathered", [4, 2], initializer=tf.zeros_initializer(), trainable=False, use_resource=True)
    add = gathered.assign_add(tf.gradients(loss, w)[0])

    def applied() -> Any:
        with tf.control_dependencies([w.assign_sub(0.3 * gathered.read_value())]):
            return tf.group(gathered.assign(tf.zeros([4, 2])))

    with tf.control_dependencies([add]), tf.control_dependencies([tf.assign_add(step, 1)]):
        train = tf.cond(tf.equal(step.read_value() % 2, 1), applied, tf.no_op)
    return Program(loss, train, {x: _values(3, 4)})


@_program
def functions_and_custom_gradients() -> Program:
    @tf.custom_gradient
    def clipped(x: Any) -> Any:
        return tf.sign(x) * tf.sqrt(tf.abs(x) + 0.1), lambda dy: tf.clip_by_value(dy, -0.01, 0.01)

    @tf.function
    def mixed(a: Any, b: Any) -> Any:
        return tf.where(a > b, a * b, tf.tanh(a * 2.0) + a - b)

    x, w = tf.placeholder(tf.float32, [3, 4], name="x"), _variable("w", 4)
    loss = tf.reduce_mean(tf.square(mixed(clipped(x * w), tf.sin(w) + tf.zeros([3, 1]))))
    return Program(loss, _descend(loss), {x: _values(3, 4)})

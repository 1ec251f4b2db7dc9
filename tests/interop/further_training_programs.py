"""Further training programs, as those of `training_programs`: sequences, pictures, spectra, contrib's optimizers."""

from __future__ import annotations

import numpy as np

import weft as tf
from tests.interop.training_programs import Program, _descend, _program, _values, _variable


def _glorot(seed: int) -> tf.keras.initializers.Initializer:
    return tf.glorot_uniform_initializer(seed=seed)


@_program
def attention_decoder() -> Program:
    seq2seq = tf.contrib.seq2seq
    x, y = tf.placeholder(tf.float32, [2, 5, 4], name="x"), tf.placeholder(tf.float32, [2, 4, 3], name="y")
    targets = tf.placeholder(tf.int32, [2, 4], name="targets")
    with tf.variable_scope("model", initializer=_glorot(3)):
        memory, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(6), x, dtype=tf.float32, sequence_length=[5, 3])
        attention = seq2seq.BahdanauAttention(6, memory, memory_sequence_length=[5, 3])
        cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicLSTMCell(6), attention, attention_layer_size=6)
        helper = seq2seq.TrainingHelper(y, [4, 3])
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(7))
        output, _, _ = seq2seq.dynamic_decode(decoder)
    loss = seq2seq.sequence_loss(output.rnn_output, targets, tf.sequence_mask([4, 3], 4, dtype=tf.float32))
    return Program(loss, _descend(loss), {x: _values(2, 5, 4), y: _values(2, 4, 3), targets: np.arange(8).reshape(2, 4) % 7})


@_program
def fused_rnn() -> Program:
    x = tf.placeholder(tf.float32, [5, 2, 4], name="x")
    with tf.variable_scope("model", initializer=_glorot(3)):
        outputs, _ = tf.contrib.rnn.LSTMBlockFusedCell(4)(x, dtype=tf.float32, sequence_length=[5, 3])
        back, _ = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(3))(x, dtype=tf.float32)
    loss = tf.reduce_mean(outputs**2) + tf.reduce_mean(back**2)
    return Program(loss, _descend(loss), {x: _values(5, 2, 4)})


@_program
def crf() -> Program:
    x = tf.placeholder(tf.float32, [2, 4, 3], name="x")
    scores = tf.einsum("bti,io->bto", x, _variable("w", 3, 5))
    tags = [[0, 1, 2, 3], [4, 0, 1, 2]]
    likelihood, moves = tf.contrib.crf.crf_log_likelihood(scores, tags, [4, 3], _variable("moves", 5, 5))
    decoded, _ = tf.contrib.crf.crf_decode(scores, moves, [4, 3])
    loss = tf.reduce_mean(-likelihood)
    return Program(loss, _descend(loss), {x: _values(2, 4, 3)}, [decoded])


@_program
def pictures() -> Program:
    x = tf.placeholder(tf.float32, [2, 6, 6, 3], name="x")
    y = x * _variable("w", 3)
    image = tf.image
    parts = [
        image.resize_bilinear(y, [4, 5]), image.resize_nearest_neighbor(y, [3, 4]), image.total_variation(y),
        image.crop_and_resize(y, [[0.0, 0.0, 0.5, 0.5], [0.1, 0.1, 0.9, 0.9]], [0, 1], [3, 3]), image.sobel_edges(y),
        tf.extract_image_patches(y, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID"), image.rgb_to_grayscale(y),
        image.per_image_standardization(y[0]), image.adjust_contrast(y, 0.5), image.rot90(y[0]),
        tf.nn.dilation2d(y, _variable("around", 2, 2, 3), [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
    ]  # fmt: skip
    loss = tf.add_n([tf.reduce_mean(part) for part in parts])
    # Short steps: absolute differences change their signs in long ones, where rounding decides.
    return Program(loss, _descend(loss, 0.001), {x: _values(2, 6, 6, 3)})


@_program
def spectra() -> Program:
    x = tf.placeholder(tf.float32, [2, 64], name="x")
    y = x * _variable("w", 64)
    short = tf.abs(tf.signal.stft(y, 16, 8))
    parts = [
        short, tf.signal.irfft(tf.signal.rfft(y)), tf.signal.dct(y, norm="ortho"), tf.abs(tf.fft(tf.complex(y, 0.3 * y))),
        tf.signal.overlap_and_add(tf.signal.frame(y, 16, 8), 8), tf.signal.mfccs_from_log_mel_spectrograms(tf.log(short + 1.0)),
    ]  # fmt: skip
    loss = tf.add_n([tf.reduce_mean(tf.square(part)) for part in parts])
    return Program(loss, _descend(loss, 0.01), {x: _values(2, 64)})


@_program
def sparse_products() -> Program:
    sparse = tf.SparseTensor([[0, 0], [0, 2], [1, 1], [2, 0], [2, 3]], _variable("v", 5), [3, 4])
    dense = tf.placeholder(tf.float32, [4, 2], name="dense")
    parts = [
        tf.sparse_tensor_dense_matmul(sparse, dense), (sparse * tf.ones([3, 4])).values, tf.sparse_softmax(sparse).values,
        tf.sparse_transpose(sparse).values, tf.sparse_slice(sparse, [0, 0], [2, 2]).values,
        tf.sparse_add(sparse, sparse).values,
    ]  # fmt: skip
    loss = tf.add_n([tf.reduce_mean(tf.square(part)) for part in parts])
    return Program(loss, _descend(loss), {dense: _values(4, 2)})


@_program
def feature_columns() -> Program:
    column = tf.feature_column
    age, film = tf.placeholder(tf.float32, [None, 1], name="age"), tf.placeholder(tf.string, [None, 1], name="film")
    named = column.categorical_column_with_vocabulary_list("film", ["x", "y", "z"])
    ages = column.bucketized_column(column.numeric_column("age"), [0.0, 0.5])
    hashed = column.categorical_column_with_hash_bucket("film", 5)
    rows = column.embedding_column(hashed, 2, initializer=tf.truncated_normal_initializer(seed=3))
    features = {"age": age, "film": film}
    wide = column.linear_model(features, [ages, named, column.crossed_column([named, ages], 6)])
    deep = tf.layers.dense(column.input_layer(features, [ages, rows]), 1, kernel_initializer=_glorot(2))
    loss = tf.reduce_mean(tf.square(wide + deep - 1.0))
    return Program(loss, _descend(loss), {age: _values(4, 1), film: [["x"], ["z"], ["q"], ["y"]]})


@_program
def contributed_optimizers() -> Program:
    step, opt = tf.train.get_or_create_global_step(), tf.contrib.opt
    optimizers = [
        opt.AdamWOptimizer(0.01, 0.01), opt.MomentumWOptimizer(0.01, 0.01, 0.9), opt.LazyAdamOptimizer(0.01),
        opt.NadamOptimizer(0.01), opt.AdaMaxOptimizer(0.01), opt.PowerSignOptimizer(0.01), opt.AddSignOptimizer(0.01),
        opt.LARSOptimizer(0.01), opt.ShampooOptimizer(step, learning_rate=0.01), opt.RegAdagradOptimizer(0.01),
    ]  # fmt: skip
    w = [_variable(f"w{number}", 4, 3) for number in range(len(optimizers))]
    loss = tf.add_n([tf.reduce_mean(tf.square(each - 0.1)) for each in w])
    table = _variable("table", 6, 2)
    rows = tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([1, 3, 1])) ** 2)
    steps = [optimizer.minimize(loss, var_list=[each]) for optimizer, each in zip(optimizers, w, strict=True)]
    return Program(loss + rows, tf.group(*steps, tf.train.AdamOptimizer(0.01).minimize(rows, var_list=[table])))


@_program
def dilated() -> Program:
    x = tf.placeholder(tf.float32, [2, 9, 8, 3], name="x")
    y = tf.nn.convolution(x, _variable("w1", 3, 2, 3, 4), "SAME", dilation_rate=[2, 3])
    y = tf.nn.depthwise_conv2d(y, _variable("w2", 3, 3, 4, 1), [1] * 4, "VALID", rate=[2, 2])
    deep = tf.nn.conv3d(
        tf.reshape(y, [2, 5, 2, 2, 4]), _variable("w3", 2, 2, 2, 4, 2), [1] * 5, "SAME", dilations=[1, 2, 1, 1, 1]
    )
    back = tf.nn.atrous_conv2d_transpose(y, _variable("w4", 3, 3, 2, 4), [2, 9, 8, 2], 2, "VALID")
    loss = tf.reduce_mean(deep**2) + tf.reduce_mean(back**2)
    return Program(loss, _descend(loss, 0.01), {x: _values(2, 9, 8, 3)})


@_program
def matrix_exponentials() -> Program:
    w = _variable("w", 3, 3)
    made = [tf.linalg.expm(w), tf.linalg.expm(tf.stack([w * 9.0, w * 0.01])) * 1e-2, tf.real(tf.linalg.expm(tf.complex(w, w)))]
    loss = tf.add_n([tf.reduce_mean(each) for each in made])
    return Program(loss, _descend(loss, 0.01))


@_program
def augmented_pictures() -> Program:
    x = tf.placeholder(tf.float32, [3, 9, 9, 3], name="x")

    def augmented(picture: tf.Tensor) -> tf.Tensor:
        picture = tf.image.random_flip_left_right(picture, seed=3)
        picture = tf.image.random_contrast(tf.random_crop(picture, [7, 7, 3], seed=4), 0.5, 1.5, seed=6)
        picture = tf.cond(picture[0, 0, 0] > 0.0, lambda: tf.nn.dropout(picture, 0.8, seed=5), lambda: picture * 0.5)
        return tf.image.random_hue(picture, 0.1, seed=8)

    net = tf.layers.conv2d(tf.map_fn(augmented, x + 1.0), 3, 3, kernel_initializer=_glorot(2))
    loss = tf.reduce_mean(tf.square(net - 0.3))
    return Program(loss, _descend(loss), {x: _values(3, 9, 9, 3)})


@_program
def scheduled_decoder() -> Program:
    seq2seq = tf.contrib.seq2seq
    words = tf.placeholder(tf.int32, [2, 4], name="words")
    with tf.variable_scope("model", initializer=_glorot(3)):
        table = tf.get_variable("table", [6, 3])
        embedded = tf.nn.embedding_lookup(table, words)
        helper = seq2seq.ScheduledEmbeddingTrainingHelper(embedded, [4, 3], table, 0.5, seed=3, scheduling_seed=4)
        cell = tf.nn.rnn_cell.GRUCell(4)
        decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), tf.layers.Dense(6))
        output, _, _ = seq2seq.dynamic_decode(decoder)
    loss = seq2seq.sequence_loss(output.rnn_output, words, tf.sequence_mask([4, 3], 4, tf.float32))
    return Program(loss, _descend(loss), {words: np.arange(8).reshape(2, 4) % 6})

"""How far the seeds of random nodes go on behind functions that TensorFlow makes of many nodes, and weft of few."""

from __future__ import annotations

import pytest

import weft as tf

distributions, rnn, crf = tf.contrib.distributions, tf.contrib.rnn, tf.contrib.crf


def floats(*shape):
    return tf.placeholder(tf.float32, shape)


def ints(*shape):
    return tf.placeholder(tf.int32, shape)


def normal(*parts):
    return distributions.MultivariateNormalDiag(*(part if part is None else floats(*part) for part in parts))


def triangular(loc, scale):
    return distributions.MultivariateNormalTriL(None if loc is None else floats(*loc), floats(*scale))


def sampled_log_prob():
    made = normal([None, 2], [None, 2])
    made.log_prob(made.sample())
    made.log_prob(floats(None, 2))
    made.entropy()


def divergence(*parts):
    normal(*parts).kl_divergence(normal(*parts))


def fused(peephole=False, lengths=None, state=None, dims=(3, 2, 4)):
    cell = rnn.LSTMBlockFusedCell(5, use_peephole=peephole)
    cell(floats(*dims), state and tuple(floats(dims[1], 5) for _ in "ch"), tf.float32, lengths and ints(lengths))


def block_cell():
    cell = rnn.LSTMBlockCell(5)
    cell(floats(2, 4), cell.zero_state(2, tf.float32))


def decoded(helper, batch, steps=6):
    cell = tf.nn.rnn_cell.GRUCell(4)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(batch, tf.float32), tf.layers.Dense(9))
    return tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=steps)[0].sample_id


def drawn_words():
    table = tf.get_variable("table", [9, 4])
    return decoded(tf.contrib.seq2seq.SampleEmbeddingHelper(table, tf.fill([2], 1), 2), 2)


def given_words():
    inputs = floats(None, 7, 4)
    return decoded(tf.contrib.seq2seq.TrainingHelper(inputs, ints(None)), tf.shape(inputs)[0])


def in_branch(make):
    inputs = floats(None, 5)
    tf.cond(tf.placeholder(tf.bool, []), lambda: tf.reduce_sum(make(inputs)), lambda: tf.constant(1.0))


def in_loop(make):
    inputs = floats(None, 5)
    tf.while_loop(lambda i, total: i < 3, lambda i, total: (i + 1, total + tf.reduce_sum(make(inputs))), [
        tf.constant(0), tf.constant(0.0),
    ])  # fmt: skip


def in_branch_of_loop(make):
    def branch(i, inputs):
        return tf.cond(i < 2, lambda: tf.reduce_sum(make(inputs)), lambda: 0.0)

    inputs = floats(None, 5)
    tf.while_loop(lambda i, total: i < 3, lambda i, total: (i + 1, total + branch(i, inputs)), [
        tf.constant(0), tf.constant(0.0),
    ])  # fmt: skip


def searched(cell, batch=2, **penalties):
    table = tf.get_variable("table", [9, 4])
    state = cell.zero_state(batch * 3, tf.float32)
    decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        cell, table, tf.fill([batch], 1), 2, state, 3, output_layer=tf.layers.Dense(9), **penalties
    )
    tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=6)


def searched_with_attention():
    memory = tf.contrib.seq2seq.tile_batch(floats(2, 5, 4), 3)
    attention = tf.contrib.seq2seq.LuongAttention(4, memory)
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), attention, attention_layer_size=4)
    searched(cell, coverage_penalty_weight=0.5)


def scheduled(**options):
    helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(floats(2, 7, options.pop("depth", 4)), ints(2), 0.3, **options)
    return decoded(helper, 2, None)


def stepped(cell, batch=4, depth=4):
    cell(floats(batch, depth), cell.zero_state(batch, tf.float32))


def phased():
    cell = rnn.PhasedLSTMCell(3, use_peepholes=True)
    cell((floats(2, 1), floats(2, 3)), cell.zero_state(2, tf.float32))


def trained(optimizer, use_resource=False, sparse=False):
    table = tf.get_variable("v", [3, 2], use_resource=use_resource)
    made = tf.nn.embedding_lookup(table, tf.placeholder(tf.int64, [None])) if sparse else tf.matmul(floats(None, 3), table)
    optimizer.minimize(tf.reduce_sum(made))


# What is made, and the nodes of TensorFlow 1.15.5 for it, with the placeholders.
COUNTS = {
    "a normal distribution of vectors": (lambda: normal([2], [2]), 42),
    "one of a batch that a step tells": (lambda: normal([None, 2], [None, 2]), 60),
    "one of a multiple of the identity": (lambda: normal([3, 2], None, [3]), 48),
    "one without means": (lambda: normal(None, [None, 2]), 53),
    "its sample": (lambda: normal([2], [2]).sample(), 104),
    "its samples": (lambda: normal([None, 2], [None, 2]).sample(5), 142),
    "its density, and the entropy": (sampled_log_prob, 262),
    "its density for samples": (lambda: normal([2], [2]).prob(floats(None, 2)), 121),
    "its entropy alone": (lambda: normal([None, 2], None).entropy(), 136),
    "its moments": (lambda: [getattr(normal([None, 2], [2]), each)() for each in ("mean", "stddev", "covariance")], 158),
    "its divergence": (lambda: divergence([None, 2], [None, 2]), 176),
    "classes of a batch": (lambda: tf.distributions.Categorical(floats(None, 3)).log_prob(ints(None)), 29),
    "the likeliest class": (lambda: tf.distributions.Categorical(floats(None, 3)).mode(), 11),
    "a beta distribution": (lambda: tf.distributions.Beta(floats(2), floats(2)).sample(), 38),
    "a fused LSTM": (fused, 30),
    "a fused LSTM with peepholes": (lambda: fused(True), 59),
    "a fused LSTM of lengths": (lambda: fused(lengths=2), 60),
    "a fused LSTM of an open batch": (lambda: fused(lengths=None, dims=(None, None, 4)), 45),
    "a fused LSTM with a state": (lambda: fused(state=True, dims=(None, 2, 4)), 38),
    "steps of a block cell": (lambda: tf.nn.dynamic_rnn(rnn.LSTMBlockCell(5), floats(2, 3, 4), dtype=tf.float32), 130),
    "steps of a fused GRU": (lambda: tf.nn.dynamic_rnn(rnn.GRUBlockCellV2(5), floats(2, 3, 4), dtype=tf.float32), 131),
    "a block cell": (block_cell, 33),
    "taggings": (lambda: crf.crf_log_likelihood(floats(None, None, 4), ints(None, None), ints(None)), 353),
    "taggings of known length": (lambda: crf.crf_log_likelihood(floats(None, 5, 4), ints(None, 5), ints(None)), 286),
    "the likeliest tagging": (lambda: crf.crf_decode(floats(2, 5, 4), floats(4, 4), ints(2)), 274),
    "separable, with gaps": (lambda: tf.contrib.layers.separable_conv2d(floats(1, 8, 8, 2), 4, 3, 1, rate=2), 41),
    "separable, with gaps, of any size": (
        lambda: tf.layers.separable_conv2d(floats(1, None, None, 2), 4, 3, dilation_rate=2),
        103,
    ),
    "of each channel, with gaps": (
        lambda: tf.nn.depthwise_conv2d(floats(1, 8, 8, 2), floats(3, 3, 2, 1), [1] * 4, "VALID", rate=[2, 2]),
        15,
    ),
    "expected places": (lambda: tf.contrib.layers.spatial_softmax(floats(None, None, None, 2)), 58),
    "a penalty on activities": (lambda: tf.layers.dense(floats(None, 4), 3, activity_regularizer=tf.nn.l2_loss), 25),
    "a penalty of Keras": (lambda: tf.keras.layers.Dense(3, activity_regularizer="l2")(floats(None, 4)), 35),
    "a product over the last axes": (lambda: tf.keras.layers.Dot(2)([floats(None, 3, 4), floats(None, 5, 4)]), 3),
    "a product with vectors": (lambda: tf.keras.layers.Dot((2, 1))([floats(None, 3, 4), floats(None, 4)]), 9),
    "a loss with weights": (lambda: tf.losses.mean_squared_error(floats(None, 1), floats(None, 1), floats(None, 1)), 149),
    "a loss with any weights": (
        lambda: tf.losses.absolute_difference(floats(2, 3), floats(2, 3), tf.placeholder(tf.float32)),
        156,
    ),
    "a mean with weights": (lambda: tf.metrics.mean(floats(None), floats(None)), 90),
    "classes of sequences": (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ints(None, None), logits=floats(None, None, 4)),
        36,
    ),
    "a trace": (lambda: tf.einsum("ii", floats(3, 3)), 4),
    "a product of three": (lambda: tf.einsum("bi,bi,ij->bj", floats(None, 4), floats(None, 4), floats(4, 5)), 19),
    "a grid": (lambda: tf.meshgrid(floats(3), floats(None)), 20),
    "a grid of lists": (lambda: tf.meshgrid([1.0, 2.0], [3.0], indexing="ij"), 19),
    "a unit matrix of a size in the step": (lambda: tf.eye(tf.shape(floats(3, None))[0], 2), 21),
    "unit matrices": (lambda: tf.eye(3, batch_shape=tf.shape(floats(None))), 8),
    "rows by batch": (lambda: tf.batch_gather(floats(None, None, 5), ints(None, None, 2)), 63),
    "counts": (lambda: tf.bincount(ints(None), minlength=5), 16),
    "a check of the rank": (lambda: tf.assert_rank_in(floats(None, 4), [2, 3]), 7),
    "frames": (lambda: tf.signal.frame(floats(None), 20, 10, pad_end=True), 102),
    "a spectrogram": (lambda: tf.signal.stft(floats(None, 100), 20, 10), 97),
    "its inverse": (lambda: tf.signal.inverse_stft(tf.placeholder(tf.complex64, [9, 17]), 32, 10), 120),
    "mel": (lambda: tf.signal.linear_to_mel_weight_matrix(20, 129), 123),
    "coefficients": (lambda: tf.signal.mfccs_from_log_mel_spectrograms(floats(None, 20)), 35),
    "cosines": (lambda: tf.signal.idct(floats(3, None), norm="ortho"), 89),
    "grey pixels": (lambda: tf.image.rgb_to_grayscale(floats(None, 8, 8, 3)), 31),
    "grey pixels of whole numbers": (lambda: tf.image.rgb_to_grayscale(tf.placeholder(tf.uint8, [8, 8, 3])), 21),
    "three channels of one": (lambda: tf.image.grayscale_to_rgb(floats(8, 8, 1)), 15),
    "an identity": (lambda: tf.get_variable("eye", [2, 3], initializer=tf.initializers.identity()), 8),
    "a decoder that draws words": (drawn_words, 281),
    "a decoder of given words": (given_words, 280),
    "an element at a long place": (lambda: floats(5)[tf.placeholder(tf.int64, [])], 9),
    "a slice between long and short places": (lambda: floats(5, 5)[:, tf.placeholder(tf.int64, []) : ints()], 11),
    "a rate that starts again": (lambda: tf.train.cosine_decay_restarts(0.1, tf.train.get_or_create_global_step(), 100), 57),
    "one whose periods are alike": (
        lambda: tf.train.cosine_decay_restarts(0.1, tf.train.get_or_create_global_step(), 100, t_mul=1.0),
        57,
    ),
    "FTRL": (lambda: trained(tf.train.FtrlOptimizer(0.1)), 41),
    "FTRL of a resource": (lambda: trained(tf.train.FtrlOptimizer(0.1), True), 45),
    "FTRL that shrinks": (lambda: trained(tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1)), 41),
    "FTRL of rows": (lambda: trained(tf.train.FtrlOptimizer(0.1), sparse=True), 58),
    "Adam of rows": (lambda: trained(tf.train.AdamOptimizer(), sparse=True), 94),
    "gradient descent of rows of a resource": (
        lambda: trained(tf.train.GradientDescentOptimizer(0.1), True, True),
        42,
    ),
    "a step of an UGRNN": (lambda: stepped(rnn.UGRNNCell(4), depth=3), 39),
    "a step through time and depth": (lambda: stepped(rnn.IntersectionRNNCell(3), depth=3), 61),
    "a step of a projected one": (lambda: stepped(rnn.IntersectionRNNCell(5, num_in_proj=5), depth=3), 77),
    "a step of groups": (lambda: stepped(rnn.GLSTMCell(4, number_of_groups=2, num_proj=2)), 111),
    "steps of groups of an open batch": (
        lambda: tf.nn.dynamic_rnn(rnn.GLSTMCell(4, number_of_groups=2), floats(None, 4, 4), dtype=tf.float32),
        224,
    ),
    "a step with phases": (phased, 138),
    "a step with attention": (lambda: stepped(rnn.AttentionCellWrapper(rnn.GRUCell(4), 3), depth=3), 175),
    "a step with attention in one state": (
        lambda: stepped(rnn.AttentionCellWrapper(rnn.GRUCell(4), 3, state_is_tuple=False), depth=3),
        168,
    ),
    "a softmax in a branch": (lambda: in_branch(lambda x: tf.nn.softmax(x, axis=0)), 42),
    "a softmax in a loop": (lambda: in_loop(lambda x: tf.nn.softmax(x, axis=0)), 55),
    "a sort in a branch of a loop": (lambda: in_branch_of_loop(lambda x: tf.sort(x, axis=0)), 46),
    "a search": (lambda: searched(tf.nn.rnn_cell.LSTMCell(4)), 594),
    "a search for any number": (lambda: searched(tf.nn.rnn_cell.GRUCell(4), ints()), 564),
    "a search that covers": (searched_with_attention, 883),
    "a decoder of some words of its own": (
        lambda: decoded(
            tf.contrib.seq2seq.ScheduledEmbeddingTrainingHelper(floats(2, 7, 4), ints(2), tf.get_variable("t", [9, 4]), 0.3),
            2,
            None,
        ),
        369,
    ),
    "a decoder of some outputs of its own": (lambda: scheduled(depth=9), 305),
    "one that maps them": (lambda: scheduled(next_inputs_fn=lambda outputs: tf.layers.dense(outputs, 4)), 335),
    "one with more beside them": (lambda: scheduled(depth=9, auxiliary_inputs=floats(2, 7, 2)), 341),
    "frames of any length": (lambda: tf.signal.frame(floats(3, 20), ints(), 4), 83),
    "a spectrogram of any length": (lambda: tf.signal.stft(floats(None, None), ints(), 4), 150),
    "its inverse, of any size": (lambda: tf.signal.inverse_stft(tf.placeholder(tf.complex64, [None, None]), 32, 10), 157),
    "its inverse, of any rank": (lambda: tf.signal.inverse_stft(tf.placeholder(tf.complex64), 32, 10), 187),
    "its inverse, of any length": (lambda: tf.signal.inverse_stft(tf.placeholder(tf.complex64, [3, 9]), ints(), 10), 204),
    "its inverse, longer": (lambda: tf.signal.inverse_stft(tf.placeholder(tf.complex64, [3, 17]), 32, 10, 16), 122),
    "the inverse of a window": (lambda: tf.signal.inverse_stft_window_fn(8)(32, dtype=tf.float32), 50),
    "a transform of any size": (lambda: tf.signal.rfft(floats(None), [8]), 26),
    "a transform of all there is": (lambda: tf.signal.rfft(floats(None)), 30),
    "a transform back of all there is": (lambda: tf.signal.irfft(tf.placeholder(tf.complex64, [None])), 52),
    "vectors of a triangle": (lambda: triangular([2], [2, 2]), 42),
    "those of a batch that a step tells": (lambda: triangular([None, 2], [None, 2, 2]), 53),
    "those without means": (lambda: triangular(None, [3, 2, 2]), 43),
    "their sample": (lambda: triangular([2], [2, 2]).sample(), 105),
    "their samples": (lambda: triangular([None, 2], [None, 2, 2]).sample(5), 136),
    "their density": (lambda: triangular([2], [2, 2]).log_prob(floats(None, 2)), 119),
    "their density in a batch": (lambda: triangular(None, [3, 2, 2]).prob(floats(None, 2)), 130),
    "their entropy": (lambda: triangular([2], [None, 2, 2]).entropy(), 174),
    "their covariance": (lambda: triangular([2], [2, 2]).covariance(), 49),
    "their deviations": (lambda: triangular([2], [2, 2]).stddev(), 51),
    "their divergence": (lambda: triangular([2], [2, 2]).kl_divergence(triangular([2], [2, 2])), 127),
    "vectors of a covariance": (
        lambda: distributions.MultivariateNormalFullCovariance(floats(2), floats(2, 2)).sample(),
        106,
    ),
    "a triangle": (lambda: distributions.fill_triangular(floats(2, 6)), 15),
    "upper triangles of a batch that a step tells": (lambda: distributions.fill_triangular(floats(None, 6), upper=True), 22),
    "a window": (lambda: tf.signal.hamming_window(tf.placeholder(tf.int32, [])), 33),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_seed_goes_by_tensorflows_count(name):
    build, count = COUNTS[name]
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        build()
        assert tf.get_seed(None)[1] == count


def test_a_fused_lstm_has_the_first_values_of_tensorflow():
    tf.set_random_seed(7)
    outputs, _ = rnn.LSTMBlockFusedCell(2)(tf.ones([2, 1, 3]), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).ravel().tolist() == pytest.approx([-0.26397, 0.06091, -0.34036, 0.10351], abs=1e-5)


def test_samples_of_vectors_have_the_values_of_tensorflow():
    tf.set_random_seed(1)
    drawn = distributions.MultivariateNormalDiag([0.0, 1.0], [1.0, 2.0]).sample()
    with tf.Session() as session:
        assert session.run(drawn).tolist() == pytest.approx([1.6009, 1.25614], abs=1e-4)


def test_samples_of_a_triangle_have_the_values_of_tensorflow():
    tf.set_random_seed(1)
    drawn = distributions.MultivariateNormalTriL([0.0, 1.0], [[1.0, 0.0], [0.5, 2.0]]).sample()
    with tf.Session() as session:
        assert session.run(drawn).tolist() == pytest.approx([0.47189, 0.98351], abs=1e-4)


def test_a_decoder_draws_the_words_of_tensorflow():
    tf.set_random_seed(4)
    words = drawn_words()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(words).tolist() == [[7, 0, 6, 2, 1, 0], [4, 0, 6, 3, 1, 3]]


# The last output of the first of two sequences, with TensorFlow 1.15.5's first values.
STEPPED = {
    "UGRNN": (lambda: rnn.UGRNNCell(3), [0.25555, 0.13293, 0.10519]),
    "intersection": (lambda: rnn.IntersectionRNNCell(4), [-0.15261, -0.12296, -0.07588, 0.00971]),
    "groups": (lambda: rnn.GLSTMCell(4, number_of_groups=2, num_proj=2), [0.08979, 0.27476]),
    "attention": (lambda: rnn.AttentionCellWrapper(rnn.GRUCell(3), 3), [0.20612, 0.32703, -0.1828]),
}


@pytest.mark.parametrize("name", STEPPED)
def test_contributed_cells_have_the_first_values_of_tensorflow(name):
    make, last = STEPPED[name]
    tf.set_random_seed(3)
    inputs = tf.constant([[[-1.0 + 2 * (16 * i + 4 * j + k) / 31 for k in range(4)] for j in range(4)] for i in range(2)])
    outputs, _ = tf.nn.dynamic_rnn(make(), inputs, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs[0, -1]).tolist() == pytest.approx(last, abs=2e-5)


def test_what_goes_beside_the_inputs_goes_beside_the_outputs_taken_for_them():
    inputs = tf.constant([[[1.0], [2.0], [3.0]]])
    helper = tf.contrib.seq2seq.ScheduledOutputTrainingHelper(inputs, [3], 1.0, auxiliary_inputs=inputs * 10.0)
    _, first = helper.initialize()
    taken = helper.next_inputs(tf.constant(0), tf.constant([[7.0]]), (), tf.constant([1]))[1]
    kept = helper.next_inputs(tf.constant(0), tf.constant([[7.0]]), (), tf.constant([0]))[1]
    with tf.Session() as session:
        found = [session.run(each).tolist() for each in (first, taken, kept)]
    assert found == [[[1.0, 10.0]], [[7.0, 20.0]], [[2.0, 20.0]]]

"""cuDNN's layers give what the cells give that share their variables, through the checkpoint of either."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

cudnn = tf.contrib.cudnn_rnn
STEPS, BATCH, DEPTH, UNITS, LAYERS = 4, 2, 3, 5, 2
LAYERS_OF = {"lstm": cudnn.CudnnLSTM, "gru": cudnn.CudnnGRU, "tanh": cudnn.CudnnRNNTanh, "relu": cudnn.CudnnRNNRelu}
CELLS_OF = {
    "lstm": cudnn.CudnnCompatibleLSTMCell,
    "gru": cudnn.CudnnCompatibleGRUCell,
    "tanh": lambda units: tf.nn.rnn_cell.BasicRNNCell(units, tf.tanh),
    "relu": lambda units: tf.nn.rnn_cell.BasicRNNCell(units, tf.nn.relu),
}


def _x():
    return np.random.RandomState(0).randn(STEPS, BATCH, DEPTH).astype(np.float32)


def _draw(shape, dtype=None, partition_info=None):
    return tf.random_uniform(shape, -1.0, 1.0, dtype, seed=3)


def _saved(layer, path, **call):
    """What a new layer of drawn weights gives, after it was saved."""
    outputs, states = layer(tf.constant(_x()), training=False, **call)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, path)
        return session.run([outputs, states])


@pytest.mark.parametrize("lengths", [None, [4, 2]])
@pytest.mark.parametrize("kind", LAYERS_OF)
def test_cells_read_the_checkpoint_of_a_layer_and_give_the_same(kind, lengths, tmp_path):
    path, scope = str(tmp_path / "model"), "layer"
    with tf.Graph().as_default():
        layer = LAYERS_OF[kind](LAYERS, UNITS, name=scope, kernel_initializer=_draw, bias_initializer=_draw)
        outputs, states = _saved(layer, path, sequence_lengths=lengths)
    with tf.Graph().as_default(), tf.Session() as session:
        cell = tf.nn.rnn_cell.MultiRNNCell([CELLS_OF[kind](UNITS) for _ in range(LAYERS)])
        with tf.variable_scope(scope):
            found, last = tf.nn.dynamic_rnn(cell, tf.constant(_x()), lengths, dtype=tf.float32, time_major=True)
        tf.train.Saver().restore(session, path)
        found, last = session.run([found, last])
    np.testing.assert_allclose(outputs, found, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(states[0], [each.h if kind == "lstm" else each for each in last], rtol=1e-5, atol=1e-6)
    if kind == "lstm":
        np.testing.assert_allclose(states[1], [each.c for each in last], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("lengths", [None, [4, 2]])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_cells_in_both_directions_read_the_checkpoint_of_a_layer(kind, lengths, tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default():
        layer = LAYERS_OF[kind](LAYERS, UNITS, direction="bidirectional", name="layer", kernel_initializer=_draw)
        outputs, states = _saved(layer, path, sequence_lengths=lengths)
    assert outputs.shape == (STEPS, BATCH, 2 * UNITS)
    assert states[0].shape == (2 * LAYERS, BATCH, UNITS)
    with tf.Graph().as_default(), tf.Session() as session:
        forth, back = ([CELLS_OF[kind](UNITS) for _ in range(LAYERS)] for _ in range(2))
        with tf.variable_scope("layer"):
            x = tf.constant(_x().transpose(1, 0, 2))
            found, fw, bw = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
                forth, back, x, dtype=tf.float32, sequence_length=lengths
            )
        tf.train.Saver().restore(session, path)
        found, fw, bw = session.run([found, fw, bw])
    np.testing.assert_allclose(outputs, found.transpose(1, 0, 2), rtol=1e-5, atol=1e-6)
    last = [each for pair in zip(fw, bw, strict=True) for each in pair]
    np.testing.assert_allclose(states[0], [each.h if kind == "lstm" else each for each in last], rtol=1e-5, atol=1e-6)


def test_batch_first_is_time_first_transposed():
    with tf.Graph().as_default(), tf.Session() as session:
        layer = cudnn.CudnnLSTM(LAYERS, UNITS)
        first = tuple(tf.constant(np.random.RandomState(seed).randn(LAYERS, BATCH, UNITS), tf.float32) for seed in (1, 2))
        outputs, states = layer(tf.constant(_x()), first)
        turned = tuple(tf.transpose(each, [1, 0, 2]) for each in first)
        others, other_states = layer(tf.constant(_x().transpose(1, 0, 2)), turned, time_major=False)
        session.run(tf.global_variables_initializer())
        expected, found = session.run([(outputs, states), (others, other_states)])
    assert len(layer.variables) == 2 * LAYERS
    np.testing.assert_allclose(found[0], expected[0].transpose(1, 0, 2), rtol=1e-6)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other.transpose(1, 0, 2), rtol=1e-6)


def test_dropout_is_between_layers_and_in_training_alone():
    with tf.Graph().as_default(), tf.Session() as session:
        two, one = cudnn.CudnnGRU(2, UNITS, dropout=0.9, seed=4), cudnn.CudnnGRU(1, UNITS, dropout=0.9)
        fetches = [layer(tf.constant(_x()), training=training)[0] for layer in (two, one) for training in (True, False)]
        session.run(tf.global_variables_initializer())
        dropped, whole, single, also_single = session.run(fetches)
    assert not np.allclose(dropped, whole)
    np.testing.assert_array_equal(single, also_single)


def test_a_layer_learns_from_its_first_weights_on():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        layer = cudnn.CudnnLSTM(1, UNITS)
        layer.build([None, None, DEPTH])
        assert layer.canonical_weight_shapes == [(UNITS, DEPTH)] * 4 + [(UNITS, UNITS)] * 4
        outputs, _ = layer(tf.constant(_x()))
        loss = tf.reduce_mean(tf.square(outputs - 0.5))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        kernel, bias = session.run(layer.trainable_variables)
        assert np.abs(kernel).max() <= np.sqrt(6.0 / (UNITS + DEPTH))
        assert not bias.any()
        before = session.run(loss)
        for _ in range(20):
            session.run(train)
        assert session.run(loss) < 0.1 * before


def test_inputs_without_a_kernel_are_refused():
    with tf.Graph().as_default(), pytest.raises(NotImplementedError, match="input_mode='linear_input'"):
        cudnn.CudnnGRU(1, DEPTH, input_mode="auto_select")(tf.constant(_x()))

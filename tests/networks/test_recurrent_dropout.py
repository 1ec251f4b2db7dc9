"""Dropout of recurrent layers: a mask for each gate, drawn from NumPy's random state, with TensorFlow 1.15.5's results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf

_K = tf.keras.layers
_SERIES, _IMAGES = (2, 3, 4), (1, 2, 2, 3, 1)
_GRU_1 = [-0.946005, -0.946005, 0.373822, 0.373822]
_LSTM_1 = [-0.114922, -0.114922, 0.985204, 0.985204]

_LAYERS: list[tuple[Callable[..., tf.keras.layers.Layer], tuple[int, ...], list[float]]] = [
    (lambda **kwargs: _K.LSTM(2, **kwargs), _SERIES, _LSTM_1),
    (lambda **kwargs: _K.LSTM(2, unroll=True, **kwargs), _SERIES, _LSTM_1),
    (lambda **kwargs: _K.LSTM(2, implementation=2, **kwargs), _SERIES, [-0.094404, -0.094404, 0.973231, 0.973231]),
    (lambda **kwargs: _K.GRU(2, **kwargs), _SERIES, _GRU_1),
    (lambda **kwargs: _K.GRU(2, implementation=2, **kwargs), _SERIES, [-0.543441, -0.649433, 0.0, 0.660203]),
    (lambda **kwargs: _K.GRU(2, reset_after=True, **kwargs), _SERIES, _GRU_1),
    (lambda **kwargs: _K.ConvLSTM2D(1, (1, 2), **kwargs), _IMAGES, [0.05559, 0.256028, 0.280578, 0.474308]),
]
_RATES = {"dropout": 0.3, "recurrent_dropout": 0.4}


@pytest.mark.parametrize(("layer", "shape", "outputs"), _LAYERS)
def test_each_gate_has_masks_of_its_own(layer, shape, outputs):
    with tf.Graph().as_default(), tf.Session() as session:
        np.random.seed(3)
        tf.set_random_seed(1)
        inputs = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        made = layer(kernel_initializer="ones", recurrent_initializer="ones", **_RATES)(tf.constant(inputs), training=True)
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(made).ravel(), outputs, atol=2e-6)


def test_cells_above_each_other_keep_their_masks_for_all_steps():
    with tf.Graph().as_default(), tf.Session() as session:
        cells = [_K.SimpleRNNCell(3, activation=None, recurrent_initializer="zeros", **_RATES) for _ in range(2)]
        layer = _K.RNN(cells, return_sequences=True)
        tf.keras.backend.set_learning_phase(1)
        try:
            made = layer(tf.ones([2, 6, 4]))
        finally:
            tf.keras.backend.set_learning_phase(0)
        session.run(tf.global_variables_initializer())
        steps = session.run(made)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[:, :1], steps.shape), atol=1e-6)

"""CuDNNLSTM and CuDNNGRU compute what LSTM and GRU do with the same weights, and keep NVIDIA's form of the biases."""

import numpy as np
import pytest

import weft as tf

SEQUENCES = np.random.RandomState(0).randn(4, 5, 2).astype(np.float32)


def _pair(kind):
    layers = tf.keras.layers
    if kind == "LSTM":
        return layers.CuDNNLSTM(3, return_sequences=True), layers.LSTM(3, recurrent_activation="sigmoid", return_sequences=True)
    plain = layers.GRU(3, recurrent_activation="sigmoid", reset_after=True, return_sequences=True)
    return layers.CuDNNGRU(3, return_sequences=True), plain


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_the_same_weights_give_the_same_outputs(kind, gates):
    ours, plain = _pair(kind)
    a, b = tf.keras.Sequential([ours]), tf.keras.Sequential([plain])
    a.build((None, 5, 2)), b.build((None, 5, 2))
    random = np.random.RandomState(1)
    kernel, recurrent = random.randn(2, 3 * gates), random.randn(3, 3 * gates)
    biases = random.randn(2, 3 * gates)
    ours.set_weights([kernel, recurrent, biases.reshape(-1)])
    plain.set_weights([kernel, recurrent, biases.sum(axis=0) if kind == "LSTM" else biases])
    np.testing.assert_allclose(a.predict(SEQUENCES), b.predict(SEQUENCES), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["CuDNNLSTM", "CuDNNGRU"])
def test_a_model_trains_and_comes_back_from_its_config(name):
    layer = getattr(tf.keras.layers, name)
    model = tf.keras.Sequential([layer(3, input_shape=(5, 2), kernel_regularizer="l2"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    losses = model.fit(SEQUENCES, SEQUENCES[:, :, :1].sum(axis=1), epochs=15, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    again = tf.keras.Sequential.from_config(model.get_config())
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again.predict(SEQUENCES), model.predict(SEQUENCES), rtol=1e-6)


def test_the_forget_gate_of_the_state_begins_open():
    layer = tf.keras.layers.CuDNNLSTM(2)
    tf.keras.Sequential([layer]).build((None, 5, 2))
    assert layer.get_weights()[2].tolist() == [0.0] * 10 + [1.0] * 2 + [0.0] * 4
    assert [each.name.split("/")[-1] for each in layer.weights] == ["kernel:0", "recurrent_kernel:0", "bias:0"]


def test_gates_have_no_activations_to_choose():
    with pytest.raises(TypeError, match="recurrent_activation"):
        tf.keras.layers.CuDNNLSTM(2, recurrent_activation="relu")

"""Layers with given weights, against what TensorFlow 1.15 makes of the same."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def _random(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.RandomState(seed).rand(*shape).astype(np.float32)


def _weighted(model):
    random = np.random.RandomState(0)
    model.set_weights([random.normal(size=each.shape) * 0.3 for each in model.get_weights()])
    return model


def _told(array: np.ndarray) -> list[object]:
    """Shape, sum and greatest magnitude, which tell arrays apart well enough."""
    return [*array.shape, float(array.sum()), float(np.abs(array).max())]


def test_attention() -> None:
    query, value = keras.Input((3, 4)), keras.Input((5, 4))
    outputs = [
        layers.Attention()([query, value]),
        layers.AdditiveAttention()([query, value]),
        layers.Attention(use_scale=True)([query, value, value]),
    ]
    model = _weighted(keras.Model([query, value], outputs))
    found = [_told(each) for each in model.predict([_random(2, 3, 4), _random(2, 5, 4)])]
    expected = [[2, 3, 4, 11.441, 0.8434], [2, 3, 4, 11.288, 0.8175], [2, 3, 4, 11.261, 0.8341]]
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert [each.name for each in model.weights] == ["additive_attention/scale:0", "attention_1/scale:0"]


def test_attention_sees_nothing_that_a_mask_or_the_order_of_time_hides() -> None:
    words = keras.Input((3,))
    inner = layers.Embedding(4, 2, mask_zero=True)(words)
    model = _weighted(keras.Model(words, [layers.Attention()([inner, inner]), layers.Attention(causal=True)([inner, inner])]))
    masked, causal = model.predict(np.array([[1, 2, 0], [1, 3, 0]]))
    np.testing.assert_array_equal(masked[:, 2], np.zeros((2, 2)))
    np.testing.assert_allclose(causal[0, 0], causal[1, 0], rtol=1e-6)
    assert np.abs(masked[0, 0] - masked[1, 0]).max() > 1e-4
    with pytest.raises(ValueError, match="must be called on a list of inputs"):
        layers.Attention()(inner)


def test_locally_connected_layers() -> None:
    chain = [
        layers.LocallyConnected2D(3, 2, input_shape=(4, 4, 2), activation="relu"),
        layers.Reshape((9, 3)),
        layers.LocallyConnected1D(2, 3, strides=2),
    ]
    model = _weighted(keras.Sequential(chain))
    np.testing.assert_allclose(_told(model.predict(_random(2, 4, 4, 2))), [2, 4, 2, -1.309, 0.6228], rtol=1e-3)
    assert [each.shape for each in model.get_weights()] == [(9, 8, 3), (3, 3, 3), (4, 9, 2), (4, 2)]


def test_convolutional_lstms() -> None:
    chain = [
        layers.ConvLSTM2D(2, 3, padding="same", return_sequences=True, input_shape=(3, 4, 4, 1)),
        layers.ConvLSTM2D(3, 2),
    ]
    model = _weighted(keras.Sequential(chain))
    model.compile("sgd", "mse")
    np.testing.assert_allclose(_told(model.predict(_random(2, 3, 4, 4, 1))), [2, 3, 3, 3, -7.417, 0.2811], rtol=1e-3)
    assert model.train_on_batch(_random(2, 3, 4, 4, 1), _random(2, 3, 3, 3)) == pytest.approx(0.4609, abs=1e-4)
    again = keras.Sequential.from_config(model.get_config())
    assert [each.shape for each in again.get_weights()] == [each.shape for each in model.get_weights()]


def test_a_stateful_convolutional_lstm_goes_on_from_batch_to_batch() -> None:
    whole = _weighted(keras.Sequential([layers.ConvLSTM2D(2, 2, batch_input_shape=(1, 4, 3, 3, 1))]))
    halves = keras.Sequential([layers.ConvLSTM2D(2, 2, batch_input_shape=(1, 2, 3, 3, 1), stateful=True)])
    halves.set_weights(whole.get_weights())
    images = _random(1, 4, 3, 3, 1)
    halves.predict(images[:, :2])
    np.testing.assert_allclose(halves.predict(images[:, 2:]), whole.predict(images), rtol=1e-5)
    halves.reset_states()
    assert np.abs(halves.predict(images[:, 2:]) - whole.predict(images)).max() > 1e-3


def test_feature_columns_as_a_layer() -> None:
    column = tf.feature_column
    kinds = column.categorical_column_with_identity("c", 3)
    inputs = {"x": keras.Input((2,), name="x"), "c": keras.Input((1,), name="c", dtype="int32")}
    columns = [column.numeric_column("x", shape=(2,)), column.indicator_column(kinds)]
    model = _weighted(keras.Model(list(inputs.values()), layers.Dense(1)(layers.DenseFeatures(columns)(inputs))))
    found = model.predict({"x": _random(3, 2), "c": np.array([[0], [1], [2]])})
    np.testing.assert_allclose(found, [[0.92], [-0.0037], [0.1508]], atol=1e-4)
    embedded = layers.DenseFeatures(column.embedding_column(kinds, 2))
    assert embedded({"c": inputs["c"]}).shape.as_list() == [None, 2]
    assert [each.name for each in embedded.trainable_weights] == ["dense_features_1/c_embedding/embedding_weights:0"]
    with pytest.raises(ValueError, match="must be a DenseColumn"):
        layers.DenseFeatures([kinds])


def test_losses_of_a_layer_begin_with_those_of_its_activities():
    layer = tf.keras.layers.Dense(3, activity_regularizer="l2", kernel_regularizer="l1")
    layer(tf.placeholder(tf.float32, [None, 2]))
    assert [each.name for each in layer.losses] == ["dense/ActivityRegularizer/truediv:0", "dense/kernel/Regularizer/add:0"]

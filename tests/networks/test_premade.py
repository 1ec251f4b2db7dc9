"""LinearModel and WideDeepModel train to the numbers of TensorFlow 1.15.5, and SequenceFeatures gives sequences."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
_WIDE = np.array([[1.0], [0.0], [2.0], [1.0]], np.float32)
_DEEP = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0], [2.0, -1.0]], np.float32)
_Y = np.array([[1.0], [2.0], [0.0], [3.0]], np.float32)


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


def _deep():
    ones = {"kernel_initializer": "ones"}
    return keras.Sequential([keras.layers.Dense(2, input_shape=(2,), **ones), keras.layers.Dense(1, **ones)])


def _wide_and_deep(activation=None):
    return keras.experimental.WideDeepModel(keras.experimental.LinearModel(kernel_initializer="ones"), _deep(), activation)


@pytest.mark.parametrize(
    ("activation", "optimizer", "losses", "predicted"),
    [
        ("tanh", lambda: "sgd", [1.57944, 1.576748], [0.99823, 1.0, 0.96453, 0.91039]),
        (
            None, lambda: [keras.optimizers.SGD(0.05), keras.optimizers.Adam(0.1)],
            [9.340866, 3.674509], [1.46432, 3.02788, 0.90452, 0.56424],
        ),
    ],
)  # fmt: skip
def test_both_parts_learn_as_in_tensorflow(activation, optimizer, losses, predicted) -> None:
    model = _wide_and_deep(activation)
    model.compile(optimizer(), "mse")
    history = model.fit([_WIDE, _DEEP], _Y, epochs=2, verbose=0, shuffle=False, batch_size=2).history
    np.testing.assert_allclose(history["loss"], losses, rtol=1e-4)
    np.testing.assert_allclose(model.predict([_WIDE, _DEEP]).ravel(), predicted, rtol=1e-4)
    assert [each.name for each in model.weights[:2]] == [
        "wide_deep_model/linear_model/dense_2/kernel:0", "wide_deep_model/linear_model/bias:0",
    ]  # fmt: skip


def test_a_linear_model_sums_over_its_inputs() -> None:
    ones = {"kernel_initializer": "ones", "bias_initializer": "ones"}
    model = keras.experimental.LinearModel(2, activation="relu", kernel_regularizer="l2", **ones)
    model.compile("sgd", "mse")
    history = model.fit([_DEEP, _WIDE], np.repeat(_Y, 2, 1), epochs=2, verbose=0, shuffle=False, batch_size=4).history
    np.testing.assert_allclose(history["loss"], [17.06, 14.508068], rtol=1e-5)
    np.testing.assert_allclose(model.predict([_DEEP, _WIDE])[:, 0], [4.423306, 6.925781, 3.642819, 2.837347], rtol=1e-5)
    with pytest.raises(ValueError, match="was built for 2 inputs, but it received 1"):
        model(tf.constant(_DEEP))


def test_premade_models_come_back_from_their_configs() -> None:
    model = _wide_and_deep("sigmoid")
    copy = keras.experimental.WideDeepModel.from_config(model.get_config())
    assert copy.get_config() == model.get_config()
    assert copy.linear_model.units == 1
    assert copy.activation is keras.activations.sigmoid


def test_one_input_is_that_of_both_parts() -> None:
    model = _wide_and_deep()
    model.compile("sgd", "mse")
    assert model.predict(_DEEP).shape == (4, 1)
    assert model.linear_model.weights[0].shape.as_list() == [2, 1]


def _sparse(values, dtype):
    return tf.SparseTensor(np.array([[0, 0], [0, 1], [1, 0]], np.int64), np.array(values, dtype), [2, 2])


def test_columns_of_sequences_are_a_layer() -> None:
    columns = tf.feature_column
    ids = columns.sequence_categorical_column_with_identity("a", 4)
    embedded = columns.embedding_column(ids, 2, initializer=tf.constant_initializer(0.5))
    layer = keras.experimental.SequenceFeatures([columns.sequence_numeric_column("n"), embedded])
    features = {"a": _sparse([1, 2, 3], np.int64), "n": _sparse([1.0, 2.0, 3.0], np.float32)}
    steps, lengths = layer(features)
    assert [each.name for each in layer.weights] == ["sequence_features/a_embedding/embedding_weights:0"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, counted = session.run([steps, lengths])
    np.testing.assert_array_equal(found, [[[0.5, 0.5, 1], [0.5, 0.5, 2]], [[0.5, 0.5, 3], [0, 0, 0]]])
    np.testing.assert_array_equal(counted, [2, 1])
    with pytest.raises(ValueError, match="sequence_categorical_column"):
        keras.experimental.SequenceFeatures([columns.numeric_column("x")])

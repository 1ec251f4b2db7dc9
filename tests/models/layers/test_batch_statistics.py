"""Batch normalization by other statistics than the batch's: of virtual batches, adjusted, and renormalized in contrib."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_IMAGES = np.sin(np.arange(4 * 3 * 3 * 2, dtype=np.float32)).reshape(4, 3, 3, 2)


def _normalized(values: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return (values - values.mean(axes, keepdims=True)) / np.sqrt(values.var(axes, keepdims=True) + 1e-3)


def _run(*values):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        return session.run(list(values))


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_each_virtual_batch_has_mean_and_variance_of_its_own():
    layer = tf.layers.BatchNormalization(momentum=0.0, virtual_batch_size=2)
    outputs, mean = _run(layer(tf.constant(_IMAGES), training=True), layer.moving_mean)
    # As in TensorFlow, the examples of a part are those at its place in each half.
    parts = _IMAGES.reshape(2, 2, 3, 3, 2)
    np.testing.assert_allclose(outputs, _normalized(parts, (0, 2, 3)).reshape(_IMAGES.shape), atol=1e-5)
    assert mean.shape == (1, 1, 1, 1, 2)
    np.testing.assert_allclose(mean.ravel(), _IMAGES.mean((0, 1, 2)), atol=1e-6)


def test_the_averages_normalize_virtual_batches_where_a_step_does_not_train():
    is_training = tf.placeholder_with_default(False, [])
    made = tf.layers.batch_normalization(tf.constant(_IMAGES), axis=1, training=is_training, virtual_batch_size=2)
    np.testing.assert_allclose(_run(made)[0], _IMAGES / np.sqrt(1 + 1e-3), rtol=1e-5)


def test_keras_writes_the_virtual_batch_into_the_config():
    layer = tf.keras.layers.BatchNormalization(virtual_batch_size=2)
    assert layer.get_config()["virtual_batch_size"] == 2
    assert "adjustment" not in layer.get_config()
    assert layer(tf.keras.Input([3, 3, 2])).shape.as_list() == [None, 3, 3, 2]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"adjustment": lambda shape: (tf.ones(shape), tf.zeros(shape))}, "adjustment cannot be specified"),
        ({"axis": 0}, "axis cannot include 0"),
    ],
)
def test_a_virtual_batch_goes_with_neither_an_adjustment_nor_the_axis_of_examples(arguments, text):
    with pytest.raises(ValueError, match=text):
        tf.layers.batch_normalization(tf.constant(_IMAGES), virtual_batch_size=2, training=True, **arguments)


@pytest.mark.parametrize("trains", [True, False])
def test_an_adjustment_counts_in_training_only(trains):
    def adjustment(shape):
        wide = tf.stack([shape[0], 1, 1, shape[3]])
        return tf.fill(wide, 3.0), tf.fill(wide, 0.5)

    is_training = tf.placeholder_with_default(trains, [])
    made = tf.layers.batch_normalization(tf.constant(_IMAGES), training=is_training, adjustment=adjustment)
    expected = _normalized(_IMAGES, (0, 1, 2)) * 3 + 0.5 if trains else _IMAGES / np.sqrt(1 + 1e-3)
    np.testing.assert_allclose(_run(made)[0], expected, atol=1e-4)


def test_contribs_renormalization_is_that_of_the_layer():
    clipping = {"rmax": 3.0, "rmin": 0.3, "dmax": 5.0}
    inputs = tf.constant(_IMAGES)
    made = tf.contrib.layers.batch_norm(inputs, 0.9, scale=True, renorm=True, renorm_clipping=clipping, renorm_decay=0.8)
    expected = tf.layers.batch_normalization(
        inputs, momentum=0.9, renorm=True, renorm_clipping=clipping, renorm_momentum=0.8, training=True
    )
    np.testing.assert_allclose(*_run(made, expected), atol=1e-6)


def test_contribs_renormalization_has_the_variables_of_tensorflow():
    tf.contrib.layers.batch_norm(
        tf.constant(_IMAGES), renorm=True, scope="norm", variables_collections={"beta": ["offsets"]},
        param_initializers={"beta": tf.constant_initializer(0.25)},
    )  # fmt: skip
    names = ["beta", "moving_mean", "moving_variance", "moving_stddev", "renorm_mean", "renorm_stddev"]
    assert [each.op.name for each in tf.model_variables()] == [f"norm/{name}" for name in names]
    assert [each.op.name for each in tf.get_collection("offsets")] == ["norm/beta"]
    np.testing.assert_array_equal(_run(tf.trainable_variables()[0])[0], [0.25, 0.25])


def test_contribs_renormalization_does_not_go_with_updates_in_place():
    with pytest.raises(ValueError, match="renorm is not supported with batch_weights, updates_collections"):
        tf.contrib.layers.batch_norm(tf.constant(_IMAGES), renorm=True, updates_collections=None)


@pytest.mark.parametrize("is_resource", [False, True])
@pytest.mark.parametrize(
    "layer",
    [
        lambda x, training: tf.layers.batch_normalization(x, training=training),
        lambda x, training: tf.contrib.layers.batch_norm(x, is_training=training, fused=False),
        lambda x, training: tf.keras.Sequential([tf.keras.layers.BatchNormalization()])(x, training=training),
    ],
)
def test_a_variable_tells_whether_a_step_trains(layer, is_resource):
    training = tf.get_variable("training", initializer=False, trainable=False, use_resource=is_resource)
    made = layer(tf.constant(_IMAGES), training)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(made), _IMAGES / np.sqrt(1 + 1e-3), rtol=1e-5)
        session.run(training.assign(True))
        np.testing.assert_allclose(session.run(made), _normalized(_IMAGES, (0, 1, 2)), atol=1e-5)

"""The backend's functions of sequences and images, and windows of series, against what TensorFlow 1.15 gives."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
backend = keras.backend
_VALUES = np.random.RandomState(1).rand(2, 3, 4).astype(np.float32)

# The function, and of what it makes of the values: shape, sum and greatest magnitude.
_FUNCTIONS = {
    "repeat_elements": (lambda x: backend.repeat_elements(x, 2, 1), [2, 6, 4, 20.241, 0.9683]),
    "reverse": (lambda x: backend.reverse(x, 1), [2, 3, 4, 10.12, 0.9683]),
    "temporal_padding": (lambda x: backend.temporal_padding(x, (1, 2)), [2, 6, 4, 10.12, 0.9683]),
    "sign": (lambda x: backend.sign(x - 0.5), [2, 3, 4, -6.0, 1.0]),
    "map_fn": (lambda x: backend.map_fn(lambda row: row * 2, x), [2, 3, 4, 20.241, 1.9365]),
    "foldl": (lambda x: backend.foldl(lambda so_far, row: so_far + row, x), [3, 4, 10.12, 1.5984]),
    "conv1d": (lambda x: backend.conv1d(x, tf.ones((2, 4, 2))), [2, 2, 2, 24.412, 4.0892]),
    "pool2d": (lambda x: backend.pool2d(x[..., None], (2, 2)), [2, 2, 3, 1, 8.605, 0.9683]),
    "resize_images": (lambda x: backend.resize_images(x[..., None], 2, 2, "channels_last"), [2, 6, 8, 1, 40.481, 0.9683]),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
def test_a_function_of_the_backend(name: str) -> None:
    function, expected = _FUNCTIONS[name]
    with tf.Graph().as_default(), tf.Session() as session:
        made = session.run(function(tf.constant(_VALUES)))
    np.testing.assert_allclose([*made.shape, made.sum(), np.abs(made).max()], expected, rtol=1e-4)


def test_rows_are_repeated_as_often_as_a_run_tells() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        times = tf.placeholder(tf.int32, [])
        repeated = session.run(backend.repeat(tf.constant(_VALUES[0]), times), {times: 3})
    np.testing.assert_array_equal(repeated, np.repeat(_VALUES[0][:, None], 3, axis=1))


def test_convolutions_know_both_layouts_and_causal_ones_see_the_past_alone() -> None:
    images = np.random.RandomState(0).rand(1, 4, 4, 2).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        kernel = tf.constant(np.random.RandomState(1).rand(2, 2, 2, 3).astype(np.float32))
        last = backend.conv2d(tf.constant(images), kernel, padding="same")
        first = backend.conv2d(tf.constant(images.transpose(0, 3, 1, 2)), kernel, padding="same", data_format="channels_first")
        causal = backend.conv1d(tf.constant(_VALUES), tf.ones((2, 4, 1)), padding="causal")
        given_last, given_first, seen = session.run([last, first, causal])
    np.testing.assert_allclose(given_first.transpose(0, 2, 3, 1), given_last, rtol=1e-5)
    np.testing.assert_allclose(seen[:, 0, 0], _VALUES[:, 0].sum(-1), rtol=1e-5)


def test_windows_are_cut_from_a_series() -> None:
    sequence = keras.preprocessing.sequence
    windows = sequence.TimeseriesGenerator(np.arange(20.0).reshape(10, 2), np.arange(10), length=3, batch_size=4, stride=2)
    assert isinstance(windows, keras.utils.Sequence)
    inputs, targets = windows[0]
    assert (len(windows), inputs.shape, inputs.sum(), targets.tolist()) == (1, (4, 3, 2), 204.0, [3, 5, 7, 9])
    with pytest.raises(ValueError, match="no part of the sequence would be left"):
        sequence.TimeseriesGenerator(np.arange(3), np.arange(3), length=3)
    np.testing.assert_allclose(sequence.make_sampling_table(5).round(4), [0.0032, 0.0032, 0.0055, 0.0074, 0.0091])


def test_batch_normalization_takes_channels_where_the_axis_says_and_no_offset_or_scale() -> None:
    images = np.random.RandomState(0).rand(2, 3, 4, 4).astype(np.float32)
    mean, var, beta = (np.asarray(each, np.float32) for each in ([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [5.0, 6.0, 7.0]))
    with tf.Graph().as_default(), tf.Session() as session:
        first = session.run(backend.batch_normalization(tf.constant(images), mean, var, beta, None, axis=1, epsilon=0.0))
        last = session.run(
            backend.batch_normalization(tf.constant(images.transpose(0, 2, 3, 1)), mean, var, None, None, epsilon=0.0)
        )
    column = (slice(None), None, None)
    np.testing.assert_allclose(first, (images - mean[column]) / np.sqrt(var[column]) + beta[column], rtol=1e-5)
    np.testing.assert_allclose(last.transpose(0, 3, 1, 2) + beta[column], first, rtol=1e-5)


def test_metrics_with_options_take_them_by_place_as_tensorflow_does_and_refuse_others() -> None:
    assert keras.metrics.BinaryAccuracy("hits", None, 0.7).get_config()["threshold"] == 0.7
    assert keras.metrics.TopKCategoricalAccuracy(3).get_config()["k"] == 3
    with pytest.raises(TypeError, match="thresh"):
        keras.metrics.BinaryAccuracy(thresh=0.5)


def test_a_cleared_session_begins_with_the_phase_and_so_draws_what_tensorflow_draws() -> None:
    keras.backend.clear_session()
    tf.set_random_seed(3)
    inputs = keras.Input((2,))
    same = keras.layers.Lambda(lambda value: value, name="same")
    copies = [same(inputs), same(inputs)]
    outputs = keras.layers.Dense(3)(copies[0])
    names = [operation.name for operation in tf.get_default_graph().get_operations()]
    assert names[:3] == ["keras_learning_phase/input", "keras_learning_phase", "input_1"]
    assert [copy.name for copy in copies] == ["same/same/Identity:0", "same_1/same/Identity:0"]
    kernel = keras.backend.get_value(keras.Model(inputs, outputs).layers[-1].kernel)
    np.testing.assert_allclose(kernel[0], [-0.3063634, -1.0531166, 0.40185642], rtol=1e-6)  # as TensorFlow 1.15.5 draws

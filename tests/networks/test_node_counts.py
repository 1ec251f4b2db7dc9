"""Keras' layers and metrics count as many nodes as in TensorFlow 1.15.5, which gives later random nodes their seeds by that."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import weft as tf

_K, _METRICS, _INPUT = tf.keras.layers, tf.keras.metrics, tf.placeholder

_LAYERS: list[tuple[int, Callable[..., object]]] = [
    (5, lambda images, series: _K.UpSampling1D(2)(series)),
    (9, lambda images, series: _K.UpSampling1D(2)(_INPUT(tf.float32, [None, None, 5]))),
    (8, lambda images, series: _K.UpSampling2D(2)(images)),
    (12, lambda images, series: _K.UpSampling2D(2, data_format="channels_first")(images)),
    (8, lambda images, series: _K.UpSampling2D(2, interpolation="bilinear")(images)),
    (1, lambda images, series: _K.Softmax()(series)),
    (31, lambda images, series: _K.Softmax(axis=1)(series)),
    (35, lambda images, series: _K.Softmax(axis=-2)(images)),
    (12, lambda images, series: _K.PReLU()(series)),
    (15, lambda images, series: _K.ReLU(6.0, 0.1, 0.5)(series)),
    (10, lambda images, series: _K.ReLU(4.0, 0.1)(series)),
    (6, lambda images, series: _K.ELU(0.2)(series)),
    (8, lambda images, series: _K.Activation("selu")(series)),
    (322, lambda images, series: _K.LocallyConnected2D(3, 2)(images)),
    (58, lambda images, series: _K.LocallyConnected1D(3, 2)(series)),
    (24, lambda images, series: _K.TimeDistributed(_K.Dense(3))(series)),
    (26, lambda images, series: _K.TimeDistributed(_K.Conv2D(3, 2))(_INPUT(tf.float32, [None, 2, 8, 8, 3]))),
    (246, lambda images, series: _K.ConvLSTM2D(3, 2)(_INPUT(tf.float32, [4, 2, 8, 8, 3]))),
    (404, lambda images, series: _K.ConvLSTM2D(3, 2, dropout=0.1, recurrent_dropout=0.2)(
        _INPUT(tf.float32, [4, 2, 8, 8, 3]), training=True)),
    (334, lambda images, series: _K.GRU(3, dropout=0.1)(series, training=True)),
    (357, lambda images, series: _K.GRU(3, dropout=0.1)(series)),
    (362, lambda images, series: _K.GRU(3, recurrent_dropout=0.1, reset_after=True)(series, training=True)),
    (359, lambda images, series: _K.LSTM(3, recurrent_dropout=0.1)(series, training=True)),
    (438, lambda images, series: _K.LSTM(3, dropout=0.1, recurrent_dropout=0.2)(series, training=True)),
    (352, lambda images, series: _K.LSTM(3, dropout=0.2, recurrent_dropout=0.1, implementation=2)(series, training=True)),
    (516, lambda images, series: _K.LSTM(3, unroll=True)(series)),
    (540, lambda images, series: _K.GRU(3, unroll=True)(series)),
    (106, lambda images, series: _K.SimpleRNN(3, unroll=True)(series)),
    (273, lambda images, series: _K.GRU(3, stateful=True)(series)),
    (280, lambda images, series: _K.LSTM(3, stateful=True)(series)),
    (499, lambda images, series: _K.RNN([_K.LSTMCell(3), _K.LSTMCell(3)])(series)),
    (487, lambda images, series: _K.RNN([_K.GRUCell(3), _K.GRUCell(3)])(series)),
]  # fmt: skip

_OF_METRICS: list[tuple[int, Callable[..., object]]] = [
    (89, lambda a, b: _METRICS.Precision().update_state(a, b)),
    (95, lambda a, b: _METRICS.Precision().update_state(a, b, b)),
    (77, lambda a, b: _METRICS.TruePositives().update_state(a, b)),
    (112, lambda a, b: _METRICS.AUC().update_state(a, b)),
    (54, lambda a, b: _METRICS.AUC().result()),
    (110, lambda a, b: _METRICS.AUC(curve="PR").result()),
    (55, lambda a, b: _METRICS.SensitivityAtSpecificity(0.4).result()),
    (28, lambda a, b: _METRICS.MeanIoU(2).result()),
    (19, lambda a, b: _METRICS.RootMeanSquaredError().update_state(a, b)),
    (34, lambda a, b: _METRICS.MeanAbsolutePercentageError()(a, b)),
    (39, lambda a, b: _METRICS.MeanSquaredLogarithmicError()(a, b)),
    (47, lambda a, b: _METRICS.Hinge()(a, b)),
    (44, lambda a, b: _METRICS.BinaryCrossentropy()(a, b)),
    (24, lambda a, b: _METRICS.MeanTensor()(a)),
]


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


@pytest.mark.parametrize(("nodes", "layer"), _LAYERS)
def test_layers_count_as_many_nodes_as_in_tensorflow(graph: tf.Graph, nodes: int, layer: Callable[..., object]) -> None:
    images, series = _INPUT(tf.float32, [4, 8, 8, 3]), _INPUT(tf.float32, [4, 6, 5])
    before = graph.last_id
    layer(images, series)
    assert graph.last_id - before == nodes


@pytest.mark.parametrize(("nodes", "metric"), _OF_METRICS)
def test_metrics_count_as_many_nodes_as_in_tensorflow(graph: tf.Graph, nodes: int, metric: Callable[..., object]) -> None:
    given = [_INPUT(tf.float32, [4]) for _ in range(2)]
    before = graph.last_id
    metric(*given)
    assert graph.last_id - before == nodes


@pytest.mark.parametrize(("predictions", "message"), [([0.5, 1.5], "predictions must be <= 1"), ([-0.5, 1.0], "must be >= 0")])
def test_metrics_at_thresholds_take_probabilities(graph: tf.Graph, predictions: list[float], message: str) -> None:
    given = _INPUT(tf.float32, [2])
    update = _METRICS.AUC().update_state([0.0, 1.0], given)
    with tf.Session() as session:
        session.run(tf.variables_initializer(graph.get_collection(tf.GraphKeys.LOCAL_VARIABLES)))
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(update, {given: predictions})

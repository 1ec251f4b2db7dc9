"""Recurrent estimators train to the numbers of TensorFlow 1.15.5, from the same variables; the numbers were asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.estimators.equal_starts import SetAll

_contrib = tf.contrib.estimator
_PLACES = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]]


def _input_fn() -> Any:
    words = tf.SparseTensor(_PLACES, tf.constant(list("abcbaz")), [3, 3])
    numbers = tf.SparseTensor(_PLACES, [1.0, 2, 3, -1, 0.5, 0], [3, 3])
    return {"w": words, "p": numbers, "c": tf.constant([[0.5], [1.0], [-1.0]])}, tf.constant([[0], [1], [1]])


def _columns() -> Any:
    of_sequences = tf.contrib.feature_column
    words = of_sequences.sequence_categorical_column_with_vocabulary_list("w", ["a", "b", "c"])
    return [tf.feature_column.embedding_column(words, 2), of_sequences.sequence_numeric_column("p")]


def _descent(rate: float) -> Any:
    return tf.train.GradientDescentOptimizer(rate)


def _trained(estimator: Any) -> Any:
    return estimator.train(_input_fn, hooks=[SetAll()], steps=2)


def test_stacked_lstms_with_context_are_tensorflows(tmp_path: Path) -> None:
    context = [tf.feature_column.numeric_column("c")]
    found = _trained(_contrib.RNNClassifier(_columns(), context, num_units=[3, 2], cell_type="lstm", model_dir=str(tmp_path)))
    results = found.evaluate(_input_fn, steps=1)
    np.testing.assert_allclose(results["loss"], 0.81226, atol=1e-4)
    np.testing.assert_allclose(results["prediction/mean"], 0.37002, atol=1e-4)
    cells = "rnn/rnn/multi_rnn_cell/cell_{}/basic_lstm_cell/{}"
    named = {
        "rnn/sequence_input_layer/sequence_input_layer/w_embedding/embedding_weights": [0.47437, 0.12405, -0.34018],
        cells.format(0, "kernel"): [-0.38514, -0.47549, -0.13057], cells.format(0, "bias"): [0.45002, 0.05963, -0.38535],
        cells.format(1, "kernel"): [-0.38554, -0.47617, -0.129], cells.format(1, "bias"): [0.44954, 0.05538, -0.38304],
        "rnn/logits/dense/kernel": [0.05728, 0.43773], "rnn/logits/dense/bias": [-0.41786],
    }  # fmt: skip
    for name, expected in named.items():
        np.testing.assert_allclose(found.get_variable_value(name).ravel()[: len(expected)], expected, atol=1e-4, err_msg=name)


def test_an_optimizer_of_the_programs_own_trains_the_plain_cell(tmp_path: Path) -> None:
    found = _trained(
        _contrib.RNNClassifier(_columns(), None, [3], n_classes=3, optimizer=_descent(0.1), model_dir=str(tmp_path))
    )
    np.testing.assert_allclose(found.evaluate(_input_fn, steps=1)["loss"], 1.20323, atol=1e-4)
    first = next(iter(found.predict(_input_fn)))
    np.testing.assert_allclose(first["logits"], [-0.53197, -0.39576, -0.14006], atol=1e-4)


def test_gradients_of_an_optimizer_that_is_made_are_clipped(tmp_path: Path) -> None:
    found = _trained(
        _contrib.RNNEstimator(
            _contrib.regression_head(),
            _columns(),
            rnn_cell_fn=lambda mode: tf.nn.rnn_cell.GRUCell(2),
            optimizer=lambda: _descent(2.0),
            model_dir=str(tmp_path),
        )
    )
    np.testing.assert_allclose(found.evaluate(_input_fn, steps=1)["loss"], 32.84205, rtol=1e-4)
    np.testing.assert_allclose(found.get_variable_value("rnn/logits/dense/kernel").ravel(), [-1.23582, -2.46576], rtol=1e-3)


def test_an_empty_sequence_counts_as_zeros(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return {"p": tf.SparseTensor([[0, 0], [0, 1]], [1.0, 2.0], [2, 2])}, tf.constant([[1.0], [2.0]])

    columns = [tf.contrib.feature_column.sequence_numeric_column("p")]
    estimator = _contrib.RNNEstimator(_contrib.regression_head(), columns, num_units=[2], model_dir=str(tmp_path))
    estimator.train(input_fn, steps=1)
    predictions = estimator.predict(input_fn)
    _, empty = next(predictions), next(predictions)
    predictions.close()
    np.testing.assert_allclose(empty["predictions"], estimator.get_variable_value("rnn/logits/dense/bias"), rtol=1e-5)


@pytest.mark.parametrize(
    ("kwargs", "told"),
    [
        ({"num_units": [2], "rnn_cell_fn": lambda mode: None}, "must not be specified when using rnn_cell_fn"),
        ({"num_units": [2], "cell_type": "lstn"}, r"Supported cell types are \['basic_rnn', 'lstm', 'gru'\]; got lstn"),
        ({"num_units": 2}, "a list of the layers' sizes"),
        ({}, "a list of the layers' sizes"),
        ({"num_units": [2], "return_sequences": True}, "must be a `_SequentialHead`"),
    ],
)
def test_what_does_not_fit_is_refused(kwargs: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        _contrib.RNNEstimator(_contrib.regression_head(), _columns(), **kwargs)

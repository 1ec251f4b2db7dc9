"""Labels and predictions of ranks that only a run tells: a last dimension of size 1 that one has too many is dropped."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf

VECTOR, COLUMN = np.array([1.0, 2.0, 3.0]), np.array([[1.0], [2.0], [5.0]])
BOTH = [(VECTOR, COLUMN), (COLUMN, VECTOR)]

METRICS = {
    "accuracy": (tf.metrics.accuracy, 2 / 3),
    "mean squared error": (tf.metrics.mean_squared_error, 4 / 3),
    "mean absolute error": (tf.metrics.mean_absolute_error, 2 / 3),
    "precision": (lambda labels, predictions: tf.metrics.precision(labels > 1.5, predictions > 2), 1.0),
    "false negatives": (lambda labels, predictions: tf.metrics.false_negatives(labels > 1.5, predictions > 2), 1.0),
}


@pytest.mark.parametrize(("labels", "predictions"), BOTH, ids=["a column of predictions", "a column of labels"])
@pytest.mark.parametrize(("metric", "expected"), METRICS.values(), ids=METRICS)
def test_a_metric_compares_element_by_element(
    metric: Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]],
    expected: float,
    labels: np.ndarray,
    predictions: np.ndarray,
) -> None:
    fed = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    _, update = metric(*fed)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update, dict(zip(fed, (labels, predictions), strict=True))) == pytest.approx(expected)


@pytest.mark.parametrize(("labels", "predictions"), BOTH, ids=["a column of predictions", "a column of labels"])
def test_a_confusion_matrix_counts_element_by_element(labels: np.ndarray, predictions: np.ndarray) -> None:
    fed = tf.placeholder(tf.int64), tf.placeholder(tf.int64)
    matrix = tf.confusion_matrix(*fed)
    with tf.Session() as session:
        found = session.run(matrix, dict(zip(fed, (labels, predictions), strict=True)))
    expected = np.zeros((6, 6), np.int32)
    expected[labels.ravel().astype(int), predictions.ravel().astype(int)] = 1
    np.testing.assert_array_equal(found, expected)


def test_a_last_dimension_of_more_is_kept() -> None:
    fed = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 2])
    _, update = tf.metrics.accuracy(*fed)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update, dict(zip(fed, (np.ones((1, 2)), np.ones((3, 2))), strict=True))) == 1.0

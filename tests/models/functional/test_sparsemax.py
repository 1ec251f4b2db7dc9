"""Sparsemax against the projection that it is, and its loss against differences."""

from __future__ import annotations

import numpy as np

import weft as tf


def projection(row: np.ndarray) -> np.ndarray:
    """The nearest point of the simplex, by bisection of the threshold."""
    low, high = row.min() - 1.0, row.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - high, 0)


LOGITS = np.random.default_rng(0).normal(size=(5, 7))
LABELS = np.eye(7)[:5]


def test_probabilities_are_the_nearest_point_of_the_simplex() -> None:
    with tf.Session() as session:
        found = session.run(tf.contrib.sparsemax.sparsemax(LOGITS))
    np.testing.assert_allclose(found, [projection(row) for row in LOGITS], atol=1e-12)
    assert (found == 0).any()


def test_the_losss_gradient_is_the_difference_from_the_labels() -> None:
    logits = tf.constant(LOGITS)
    probabilities = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, probabilities, LABELS)
    with tf.Session() as session:
        gradient, wanted = session.run([tf.gradients(loss, logits)[0], probabilities - LABELS])
        np.testing.assert_allclose(gradient, wanted, atol=1e-12)
        assert tf.test.compute_gradient_error(logits, [5, 7], loss, [5], x_init_value=LOGITS) < 1e-6


def test_infinite_logits_are_certain_and_nan_is_nan() -> None:
    logits = np.array([[1.0, -np.inf], [np.nan, 1.0]])
    probabilities = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, probabilities, [[1.0, 0.0], [1.0, 0.0]])
    with tf.Session() as session:
        found, losses = session.run([probabilities, loss])
    np.testing.assert_array_equal(found, [[1, 0], [np.nan, np.nan]])
    np.testing.assert_array_equal(losses, [0, np.nan])

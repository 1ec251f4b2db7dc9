"""The hinge loss of several classes against NumPy, its weights, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

LOGITS = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
LABELS = np.array([0, 2, 1, 1])
loss_of = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss


def _expected() -> np.ndarray:
    rows = np.arange(len(LABELS))
    margins = LOGITS - LOGITS[rows, LABELS][:, None] + 1.0
    margins[rows, LABELS] = 0.0
    return np.maximum(margins, 0.0).max(axis=1)


@pytest.mark.parametrize("labels", [LABELS, LABELS[:, None].astype(np.int32)])
def test_each_loss_is_the_most_that_another_class_comes_near(labels: np.ndarray) -> None:
    losses = loss_of(labels, LOGITS, reduction=tf.losses.Reduction.NONE)
    assert tf.losses.get_losses() == [losses]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(losses), _expected(), rtol=1e-6)


@pytest.mark.parametrize("weights", [1.0, [1.0, 0.0, 2.0, 0.5], [[1.0], [2.0], [0.0], [0.0]]])
def test_weights_count_as_in_other_losses(weights: Any) -> None:
    each = np.broadcast_to(np.ravel(weights), [4])
    with tf.Session() as session:
        found = session.run(loss_of(tf.constant(LABELS), tf.constant(LOGITS), weights=weights))
    assert found == pytest.approx((_expected() * each).sum() / np.count_nonzero(each), rel=1e-6)


def test_the_gradient_goes_to_the_right_class_and_to_the_nearest() -> None:
    logits = tf.constant([[2.0, 1.5, -1.0], [9.0, 0.0, 0.0]])
    (gradient,) = tf.gradients(loss_of([0, 0], logits, reduction=tf.losses.Reduction.SUM), logits)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(gradient), [[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("labels", "logits", "weights", "told"),
    [
        ([0], [1.0, 2.0], 1.0, r"logits should have rank 2 .* Given rank is 1: logits:0 has shape \(2,\)"),
        ([0.0], [[1.0, 2.0]], 1.0, r"Invalid dtype for labels: .*float32.*; tf.cast\(labels:0, tf.int32\)"),
        ([[[0]]], [[1.0, 2.0]], 1.0, "labels should have rank 1 .* Given rank is 3"),
        ([0], [[1.0, 2.0]], [[[1.0]]], "weights should have rank 1 .* Given rank is 3"),
    ],
)
def test_other_shapes_and_types_are_refused(labels: Any, logits: Any, weights: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        loss_of(tf.constant(labels, name="labels"), tf.constant(logits, name="logits"), weights)


def test_a_label_that_is_no_class_ends_the_step() -> None:
    loss = loss_of(tf.constant([0, 3, 1, 1]), LOGITS)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(loss)

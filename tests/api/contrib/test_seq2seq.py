"""The loss of sequences."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def _cross_entropy(logits, targets):
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    return -np.log(np.take_along_axis(shares, targets[..., None], -1)[..., 0])


def test_averages_over_what_it_is_told_to():
    random = np.random.RandomState(0)
    logits, targets = random.randn(2, 3, 4).astype(np.float32), random.randint(0, 4, (2, 3))
    weights = np.array([[1, 1, 0], [1, 0, 0]], np.float32)
    each = _cross_entropy(logits, targets) * weights
    loss = tf.contrib.seq2seq.sequence_loss
    with tf.Session() as session:
        run = lambda **options: session.run(loss(logits, targets, weights, **options))  # noqa: E731
        np.testing.assert_allclose(run(), each.sum() / 3, rtol=1e-5)
        np.testing.assert_allclose(run(average_across_batch=False), each.sum(1) / [2, 1], rtol=1e-5)
        # A step that no sequence has counts nothing.
        np.testing.assert_allclose(run(average_across_timesteps=False), [*(each.sum(0) / [2, 1, 1])[:2], 0], rtol=1e-5)
        plain = run(average_across_timesteps=False, average_across_batch=False)
        np.testing.assert_allclose(plain, each, rtol=1e-5)
        summed = {"average_across_timesteps": False, "average_across_batch": False}
        np.testing.assert_allclose(run(**summed, sum_over_timesteps=True, sum_over_batch=True), each.sum() / 3, rtol=1e-5)
        # As TensorFlow 1.15 divides: by how many weights of the sequence, or of the step, are not zero.
        np.testing.assert_allclose(run(**summed, sum_over_timesteps=True), each.sum(1) / [2, 1], rtol=1e-5)
        np.testing.assert_allclose(run(**summed, sum_over_batch=True), [*(each.sum(0) / [2, 1, 1])[:2], 0], rtol=1e-5)


def test_refuses_other_ranks():
    with pytest.raises(ValueError, match="Logits must be a 3-D"):
        tf.contrib.seq2seq.sequence_loss(tf.zeros([2, 3]), tf.zeros([2, 3], tf.int32), tf.ones([2, 3]))

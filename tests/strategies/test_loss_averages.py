"""Losses are averaged over the examples of all replicas, as TensorFlow 1.15 does."""

from __future__ import annotations

import pytest

import weft as tf


def test_the_sum_of_losses_is_divided_by_the_examples_of_all_replicas() -> None:
    losses = tf.constant([1.0, 2.0])
    with tf.Session() as sess:
        assert sess.run(tf.nn.compute_average_loss(losses)) == 1.5
        assert sess.run(tf.nn.compute_average_loss(losses, global_batch_size=4)) == 0.75
        assert sess.run(tf.nn.compute_average_loss(losses, sample_weight=[0.5, 0.5], global_batch_size=4)) == 0.375
        assert sess.run(tf.nn.scale_regularization_loss([1.0, 3.0])) == 4.0
    with pytest.raises(ValueError, match="Expected a tensor with at least rank 1"):
        tf.nn.compute_average_loss(tf.constant(5.0))


def test_replicas_share_and_the_context_of_all_is_refused() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        shares = strategy.experimental_run_v2(lambda: tf.nn.compute_average_loss(tf.constant([1.0, 2.0])))
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, shares, axis=None)
        with pytest.raises(RuntimeError, match=r"`compute_average_loss` in cross replica context"):
            tf.nn.compute_average_loss(tf.constant([1.0]))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        assert sess.run(total) == 1.5


@pytest.mark.parametrize(("shape", "weights"), [([3, 2], [1.0, 0.0, 2.0]), ([3, 2], [[1.0], [0.0], [2.0]]), ([3], [[2.0]] * 3)])
def test_one_weight_for_each_example_weighs_all_its_losses(shape, weights) -> None:
    with tf.Session() as sess:
        assert sess.run(tf.nn.compute_average_loss(tf.ones(shape), sample_weight=weights)) == 2.0

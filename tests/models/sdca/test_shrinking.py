"""sdca_shrink_l1 brings weights nearer to zero."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def after(weights, l1, l2):
    shrink = tf.train.sdca_shrink_l1(weights, l1=l1, l2=l2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(shrink)
        return [each.tolist() for each in session.run(weights)]


def test_weights_come_nearer_to_zero_by_the_share_of_l1() -> None:
    weights = [tf.Variable([3.0, -4.0, 0.2]), tf.Variable([[0.4], [7.0]])]
    assert after(weights, 0.5, 1.0) == [[2.5, -3.5, 0.0], [[0.0], [6.5]]]


def test_without_l2_nothing_is_left() -> None:
    assert after([tf.Variable([3.0])], 0.5, 0.0) == [[0.0]]
    assert np.isnan(after([tf.Variable([3.0, 0.0])], 0.0, 0.0)).all()


def test_it_is_one_operation_and_one_node() -> None:
    tf.set_random_seed(1)
    weights = [tf.Variable([3.0, -4.0])]
    before = tf.get_seed(None)[1]
    assert tf.train.sdca_shrink_l1(weights, 0.5, 1.0).name == "SdcaShrinkL1"
    assert tf.train.sdca_shrink_l1(weights, 0.5, 1.0, name="shrink").name == "shrink"
    assert tf.get_seed(None)[1] - before == 2


@pytest.mark.parametrize(
    ("weights", "l1", "words"),
    [
        (lambda: tf.Variable([1.0]), 1.0, "Expected list for 'weights'"),
        (lambda: [tf.constant([1.0])], 1.0, "be a mutable tensor"),
        (lambda: [tf.Variable([1.0], use_resource=True)], 1.0, "be a mutable tensor"),
        (lambda: [tf.Variable([1.0])], "a", "Expected float for argument 'l1' not 'a'"),
    ],
)
def test_what_it_cannot_shrink_is_refused(weights, l1, words) -> None:
    with pytest.raises(TypeError, match=words):
        tf.train.sdca_shrink_l1(weights(), l1=l1, l2=1.0)

"""assert_shapes: what is known is checked now, the rest when the step runs."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_sizes_of_one_name_must_agree():
    x, y = tf.zeros([3, 4]), tf.zeros([4, 5])
    tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("Q", "D")), (tf.constant(1.0), ())])
    with pytest.raises(ValueError, match="must have size 3"):
        tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("N", "D"))])


def test_ranks_must_agree_unless_a_lead_is_allowed():
    x = tf.zeros([2, 3, 4])
    tf.debugging.assert_shapes([(x, ("*", "D"))])
    with pytest.raises(ValueError, match="must have rank 1"):
        tf.debugging.assert_shapes([(x, ("D",))])


@pytest.mark.parametrize(("fed", "message"), [((2, 3), None), ((3, 3), "must have the size of"), ((2,), "must have rank 2")])
def test_unknown_sizes_are_checked_by_the_step(fed, message):
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32, [None, 4])
    check = tf.debugging.assert_shapes([(y, ("N", 4)), (x, ("N", None))])
    feeds = {x: np.zeros(fed), y: np.zeros((2, 4))}
    with tf.Session() as session:
        if message is None:
            session.run(check, feeds)
            return
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(check, feeds)

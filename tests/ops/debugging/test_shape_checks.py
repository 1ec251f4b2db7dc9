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


@pytest.mark.parametrize(
    ("fed", "message"), [((2, 3), None), ((3, 3), r"\[must have size\] \[2\]"), ((2,), r"must have rank\] \[2\]")]
)
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


def test_a_scalar_passes_for_a_vector_of_one_element():
    scalar, one, two = tf.constant(1.0, name="s"), tf.constant([1.0]), tf.constant([1.0, 2.0], name="t")
    tf.debugging.assert_shapes([(scalar, ("D",)), (one, ())])
    with pytest.raises(ValueError, match=r"Specified by tensor s:0 dimension 0\.  Tensor t:0 dimension 0 must have size 1"):
        tf.debugging.assert_shapes([(scalar, ("D",)), (two, ("D",))])
    with pytest.raises(ValueError, match=r"Specified explicitly\.  Tensor t:0 dimension 0 must have size 1\.  Received size 2"):
        tf.debugging.assert_shapes([(two, ())])
    fed = tf.placeholder(tf.float32)
    check = tf.debugging.assert_shapes([(fed, (1,))])
    with tf.Session() as session:
        session.run(check, {fed: 1.0})
        session.run(check, {fed: [1.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"must have size\] \[1\]"):
            session.run(check, {fed: [1.0, 2.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank in"):
            session.run(check, {fed: [[1.0]]})


def test_a_shape_is_iterable_and_begins_with_what_may_be_any_number():
    matrix = tf.zeros([1, 2], name="m")
    tf.debugging.assert_shapes([(matrix, ("...", "N")), (tf.zeros([2]), ("N",))])
    with pytest.raises(ValueError, match=r"Tensor m:0 specified shape index 1\.  Symbol `...` or `\*`"):
        tf.debugging.assert_shapes([(matrix, ("N", "*"))])
    with pytest.raises(ValueError, match="Specified shape must be an iterable"):
        tf.debugging.assert_shapes([(matrix, 3)])

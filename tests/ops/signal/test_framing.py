"""Frames of signals whose rank only a run tells."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize("axis", [-1, 0, 1, -2])
@pytest.mark.parametrize("pad_end", [False, True])
def test_frames_of_unknown_rank_are_those_of_a_known_one(axis: int, pad_end: bool) -> None:
    signal = np.arange(60.0, dtype=np.float32).reshape(3, 5, 4)
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        found = sess.run(tf.signal.frame(x, 2, 3, pad_end, 7, axis), {x: signal})
        np.testing.assert_array_equal(found, sess.run(tf.signal.frame(signal, 2, 3, pad_end, 7, axis)))


def test_a_vector_may_be_of_unknown_rank_too() -> None:
    x = tf.placeholder(tf.float32)
    with tf.Session() as sess:
        assert sess.run(tf.signal.frame(x, 2, 1), {x: [1.0, 2.0, 3.0]}).tolist() == [[1, 2], [2, 3]]

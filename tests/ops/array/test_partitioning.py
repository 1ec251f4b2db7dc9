"""Partitions of tensors, and tensors stitched of them."""

from __future__ import annotations

import numpy as np

import weft as tf


def test_what_is_empty_is_partitioned_and_stitched() -> None:
    nothing = np.zeros((2, 0), np.float32)
    parts = tf.dynamic_partition(nothing, [0, 1], 2)
    whole = tf.dynamic_stitch([[0], [1]], parts)
    with tf.Session() as session:
        assert [part.shape for part in session.run(parts)] == [(1, 0), (1, 0)]
        assert session.run(whole).shape == (2, 0)

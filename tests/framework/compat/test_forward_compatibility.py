"""What may be written is told by TensorFlow 1.15's date."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import weft as tf


def test_the_date_is_that_of_1_15_unless_a_block_has_another() -> None:
    assert tf.compat.forward_compatible(2019, 8, 20)
    assert not tf.compat.forward_compatible(2019, 8, 21)
    with tf.compat.forward_compatibility_horizon(2030, 1, 1), ThreadPoolExecutor(1) as pool:
        assert pool.submit(tf.compat.forward_compatible, 2029, 1, 1).result()
        assert tf.compat.forward_compatible(2029, 1, 1)
    assert not tf.compat.forward_compatible(2029, 1, 1)

"""Values are rounded to what few bits can hold."""

from __future__ import annotations

import weft as tf


def test_no_values_have_no_range_and_stay_none() -> None:
    with tf.Session() as session:
        assert session.run(tf.quantization.quantize_and_dequantize(tf.zeros([0]), 0.0, 1.0, range_given=False)).shape == (0,)

"""Bessel functions have at zero the slopes that TensorFlow gives them."""

from __future__ import annotations

import pytest

import weft as tf


@pytest.mark.parametrize(("function", "slope"), [("BesselJ1", 0.5), ("BesselI1", 1.0)])
def test_a_function_of_order_1_has_a_slope_at_zero(function: str, slope: float) -> None:
    x = tf.constant([0.0, 2.0])
    first = tf.gradients(getattr(tf.raw_ops, function)(x=x), x)[0]
    with tf.Session() as sess:
        assert sess.run(first)[0] == slope
        assert sess.run(tf.is_finite(tf.gradients(first, x)[0])).all()


def test_a_scaled_function_falls_endlessly_at_zero() -> None:
    x = tf.constant([0.0, 0.5], tf.float64)
    with tf.Session() as sess:
        found = sess.run(tf.gradients(tf.raw_ops.BesselK1e(x=x), x)[0])
    assert found.tolist() == pytest.approx([float("-inf"), -4.25511909], rel=1e-6)


def test_a_scaled_function_is_level_at_the_end() -> None:
    x = tf.constant([float("inf"), 1e30])
    with tf.Session() as sess:
        found = sess.run(tf.gradients(tf.raw_ops.BesselK1e(x=x), x)[0])
    assert found.tolist() == pytest.approx([0.0, 0.0], abs=1e-9)

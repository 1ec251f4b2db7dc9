"""The helpers that programs make metrics of their own of."""

from __future__ import annotations

import weft as tf
from weft.models.metrics.own_metrics import aggregate_variable, safe_scalar_div


def test_a_variable_is_its_own_sum_and_in_the_collections() -> None:
    total = tf.Variable(3.0)
    assert aggregate_variable(total, ["seen", "shown"]) is total
    assert tf.get_collection("seen") == tf.get_collection("shown") == [total]
    assert aggregate_variable(total, None) is total


def test_a_quotient_by_zero_is_zero() -> None:
    none, some = safe_scalar_div(tf.constant(1.0), tf.constant(0.0), "none"), safe_scalar_div(6.0, 4.0, "some")
    assert (none.op.name, some.op.name) == ("none", "some")
    with tf.Session() as sess:
        assert sess.run([none, some]) == [0.0, 1.5]

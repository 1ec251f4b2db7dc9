"""Values are rounded to what few bits can hold."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from tests.ops.both_ways import each_way, session
from tests.ops.both_ways import own_graph as own_graph


def test_no_values_have_no_range_and_stay_none() -> None:
    with tf.Session() as sess:
        assert sess.run(tf.quantization.quantize_and_dequantize(tf.zeros([0]), 0.0, 1.0, range_given=False)).shape == (0,)


@each_way
@pytest.mark.parametrize(
    ("node", "low"), [(tf.raw_ops.QuantizeAndDequantizeV2, 2.0), (tf.raw_ops.QuantizeAndDequantizeV4, float("nan"))]
)
def test_a_range_whose_ends_are_not_in_order_is_refused(way: str, node: Any, low: float) -> None:
    values, least = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [])
    made = node(input=values, input_min=least, input_max=1.0, range_given=True)
    with session(way) as sess:
        assert sess.run(made, {values: [0.0, 2.0], least: 1.0}).tolist() == [0.0, 1.0]
        for given in ([1.0], []):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid range: input_min"):
                sess.run(made, {values: given, least: low})


def test_the_limits_of_a_range_have_a_shape_by_the_axis_alone() -> None:
    unknown = [tf.placeholder(tf.float32) for _ in range(4)]
    of = tf.raw_ops.QuantizeAndDequantizeV4Grad
    names = ("gradients", "input", "input_min", "input_max")
    assert [each.shape.as_list() for each in of(**dict(zip(names, unknown, strict=True)))[1:]] == [[], []]
    assert [each.shape.as_list() for each in of(**dict(zip(names, unknown, strict=True)), axis=1)[1:]] == [[None], [None]]
    with pytest.raises(ValueError, match="axis should be at least -1, got -3"):
        of(**dict(zip(names, unknown, strict=True)), axis=-3)
    values, limit = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [2])
    with pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
        tf.raw_ops.QuantizeAndDequantizeV2(input=values, input_min=limit, input_max=limit, axis=1)

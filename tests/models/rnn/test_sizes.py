"""Shapes joined from parts, and a linear map in the variable scope around it."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.models.rnn.sizes import joined_shape, linear_map


def test_a_joined_shape_is_a_tensor_or_a_list() -> None:
    size = tf.placeholder(tf.int32, [])
    joined = joined_shape(size, tf.TensorShape([4, 5]))
    with tf.Session() as session:
        assert session.run(joined, {size: 3}).tolist() == [3, 4, 5]
    assert joined_shape(tf.TensorShape([None]), 4, static=True) == [None, 4]
    with pytest.raises(ValueError, match="must be fully defined"):
        joined_shape(tf.TensorShape([None]), 4)
    with pytest.raises(ValueError, match="scalars or vectors"):
        joined_shape(tf.zeros([2, 2], tf.int32), 4)


def test_a_linear_map_makes_kernel_and_bias_in_its_scope() -> None:
    with tf.Graph().as_default():
        _make_linear_maps()


def _make_linear_maps() -> None:
    with tf.variable_scope("map"):
        mapped = linear_map([tf.ones([2, 3]), tf.ones([2, 1])], 5, True, tf.ones_initializer(), tf.ones_initializer())
    with tf.variable_scope("plain"):
        linear_map(tf.ones([2, 3]), 5, bias=False)
    assert [v.op.name for v in tf.trainable_variables()] == ["map/kernel", "map/bias", "plain/kernel"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(mapped), np.full([2, 5], 5.0))
    with pytest.raises(ValueError, match="`args` must be specified"):
        linear_map([], 5, True)

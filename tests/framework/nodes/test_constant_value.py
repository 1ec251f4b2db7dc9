"""Values that follow from constants and shapes are known while building; what a run may change is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from weft.python import pywrap_tensorflow

import weft as tf
from weft.framework.nodes.constant_value import constant_dims, constant_value


def known(tensor: tf.Tensor) -> Any:
    value = constant_value(tensor)
    return None if value is None else value.tolist()


def test_what_follows_from_constants_is_known() -> None:
    a = tf.constant([1, 2, 3])
    assert known(a) == [1, 2, 3]
    assert known(a * 2 + 1) == [3, 5, 7]
    assert known(tf.reduce_sum(a)) == 6
    assert known(tf.concat([a, [4]], 0)[1:]) == [2, 3, 4]
    assert known(tf.cast(a, tf.float32)) == [1.0, 2.0, 3.0]


def test_shapes_that_are_known_are_values() -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    assert known(tf.shape(x)) == [2, 3]
    assert known(tf.size(x)) == 6
    assert known(tf.rank(tf.placeholder(tf.float32, [None, 3]))) in (2, None)
    assert known(tf.shape(tf.placeholder(tf.float32, [None, 3]))) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.placeholder(tf.int32, []),
        lambda: tf.placeholder_with_default(3, []),
        lambda: tf.random_uniform([2], seed=1),
        lambda: tf.Variable(3, use_resource=False).value(),
        lambda: tf.py_func(lambda: np.int32(1), [], tf.int32),
    ],
)
def test_what_a_run_decides_is_not_known(make: Any) -> None:
    tensor = make()
    assert constant_value(tensor) is None
    assert constant_value(tensor + tensor) is None


def test_large_values_are_left_to_the_runs() -> None:
    assert constant_value(tf.zeros([1000, 1000])) is None


def test_a_shape_may_be_known_in_part() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    assert constant_dims(tf.shape(x)) == (None, 3)
    assert constant_dims(tf.constant([4, 5])) == (4, 5)
    assert constant_dims(tf.stack([tf.shape(x)[0], 7])) == (None, 7)
    assert constant_dims(tf.placeholder(tf.int32, [2])) == (None, None)
    assert constant_dims(tf.placeholder(tf.int32, [None])) is None


def test_what_is_known_of_a_vector_is_told_where_that_is_asked_for() -> None:
    size = tf.placeholder(tf.int32, [])
    pair = tf.stack([size, 3])
    assert tf.contrib.util.constant_value(pair) is None
    found = tf.contrib.util.constant_value(pair, partial=True)
    assert found.dtype == np.object_
    assert found.tolist() == [None, 3]
    assert tf.contrib.util.constant_value(tf.stack([1, 2]), partial=True).tolist() == [1, 2]
    assert tf.contrib.util.constant_value(size, partial=True) is None


def test_programs_own_choices_while_building_ask_as_those_of_tensorflow() -> None:
    def ask(tensor: tf.Tensor) -> object:
        return pywrap_tensorflow.TF_TryEvaluateConstant_wrapper(tensor.graph._c_graph, tensor._as_tf_output())

    assert ask(tf.logical_not(tf.constant(True))) == np.array(False)
    assert ask(tf.placeholder(tf.bool, [])) is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.fill([-2, 3], 1.0),
        lambda: tf.zeros([3, -2]),
        lambda: tf.reshape(tf.ones([6]), [-2, 3]),
        lambda: tf.random_normal([-2]),
        lambda: tf.broadcast_to(tf.ones([1]), [-2, 3]),
        lambda: tf.scatter_nd([[0]], [1.0], [-2]),
        lambda: tf.sparse_to_dense([0], [-2], 1),
        lambda: tf.slice(tf.ones([3]), [0], [-2]),
        lambda: tf.tile(tf.ones([2]), [-2]),
        lambda: tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [-2, 4, 4, 1], [1, 2, 2, 1]),
    ],
)
def test_what_is_no_size_is_refused_while_building(make: Any) -> None:
    with pytest.raises(ValueError, match=r"^Invalid value in tensor used for shape: -2"):
        make()

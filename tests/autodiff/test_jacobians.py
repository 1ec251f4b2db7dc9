"""Jacobians and products of Hessians and vectors, by the paths inside TensorFlow by which programs import them."""

from __future__ import annotations

import numpy as np
import pytest
from weft.python.ops.gradients_impl import _hessian_vector_product
from weft.python.ops.parallel_for.gradients import batch_jacobian, jacobian
from weft.python.util.lazy_loader import LazyLoader

import weft as tf


def test_a_jacobian_has_the_derivatives_of_each_element() -> None:
    x, other = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([1.0])
    made, none = jacobian(tf.square(x)[0], [x, other])
    assert (made.shape.as_list(), none) == ([2, 2, 2], None)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(made), [[[2, 0], [0, 0]], [[0, 4], [0, 0]]])


def test_a_jacobian_has_as_many_rows_as_a_run_tells() -> None:
    x, other = tf.placeholder(tf.float32, [None]), tf.constant([1.0])
    made, none = jacobian(tf.concat([tf.square(x), x], 0), [x, other])
    assert none is None
    with tf.Session() as session:
        assert session.run(made, {x: [1, 2]}).tolist() == [[2, 0], [0, 4], [1, 0], [0, 1]]


def test_a_batch_jacobian_has_those_of_each_example_for_its_own_input() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    made = batch_jacobian(tf.matmul(x * x, [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), x)
    assert made is not None
    assert made.shape.as_list() == [None, 3, 2]
    with tf.Session() as session:
        value = session.run(made, {x: [[1, 2], [3, 4]]})
    np.testing.assert_array_equal(value, [[[2, 0], [0, 4], [2, 4]], [[6, 0], [0, 8], [6, 8]]])
    assert batch_jacobian(tf.ones([2, 3]), tf.ones([2, 1])) is None
    with pytest.raises(ValueError, match="to match"):
        batch_jacobian(tf.ones([2, 3]), tf.ones([4, 1]))


def test_a_hessian_is_multiplied_by_a_vector() -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0])
    products = _hessian_vector_product(tf.reduce_sum(x**3) * y[0], [x, y], [tf.constant([1.0, 0.0]), tf.constant([0.0])])
    with tf.Session() as session:
        values = session.run(products)
    np.testing.assert_allclose(values[0], [18, 0])
    np.testing.assert_allclose(values[1], [3])
    with pytest.raises(ValueError, match="same length"):
        _hessian_vector_product(tf.reduce_sum(x), [x], [])


def test_a_lazy_module_is_imported_when_it_is_used() -> None:
    names: dict[str, object] = {}
    names["colours"] = colours = LazyLoader("colours", names, "colorsys")
    assert names["colours"] is colours
    assert colours.rgb_to_hsv(1.0, 0.0, 0.0) == (0.0, 1.0, 1.0)
    assert names["colours"].__name__ == "colorsys"
    assert names["colours"] is not colours

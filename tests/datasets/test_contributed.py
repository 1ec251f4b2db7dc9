"""Elements are checked to have shapes, and reduced to one value, as tf.contrib.data does."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def test_elements_are_checked_to_have_shapes() -> None:
    given = tf.placeholder_with_default(tf.zeros([2, 3]), [None, None])
    dataset = tf.data.Dataset.from_tensors(given)
    fits = dataset.apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2, None]))).make_initializable_iterator()
    differs = dataset.apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2, 4]))).make_initializable_iterator()
    assert fits.output_shapes.as_list() == [2, None]
    with tf.Session() as sess:
        sess.run([fits.initializer, differs.initializer])
        assert sess.run(fits.get_next()).shape == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Wrong shape for \w*args_0:0 \[expected\] \[actual\]"):
            sess.run(differs.get_next())
    with pytest.raises(ValueError, match="Shapes"):
        tf.data.Dataset.from_tensors(tf.zeros([2, 3])).apply(tf.contrib.data.assert_element_shape(tf.TensorShape([2, 4])))


def test_a_rank_that_is_not_known_is_checked_too() -> None:
    pairs = tf.data.Dataset.from_tensors((tf.placeholder_with_default(tf.zeros([2, 3, 1]), None), 5))
    shapes = (tf.TensorShape([2, 3]), tf.TensorShape([]))
    iterator = pairs.apply(tf.contrib.data.assert_element_shape(shapes)).make_initializable_iterator()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
            sess.run(iterator.get_next())


def test_a_dataset_becomes_one_value() -> None:
    reducer = tf.contrib.data.Reducer(lambda _: np.int64(0), lambda state, x: state + x, lambda state: state * 2)
    with tf.Session() as sess:
        assert sess.run(tf.contrib.data.reduce_dataset(tf.data.Dataset.range(5), reducer)) == 20
    with pytest.raises(TypeError, match="must be a `Reducer` instance"):
        tf.contrib.data.reduce_dataset(tf.data.Dataset.range(5), 3)  # type: ignore[arg-type]


def test_a_state_that_is_a_tuple_is_several_arguments_of_what_makes_the_value() -> None:
    reducer = tf.contrib.data.Reducer(
        lambda _: (np.int64(0), np.int64(0)), lambda state, x: (state[0] + x, state[1] + 1), lambda a, b: a * 100 + b
    )
    with tf.Session() as sess:
        assert sess.run(tf.contrib.data.reduce_dataset(tf.data.Dataset.range(5), reducer)) == 1005

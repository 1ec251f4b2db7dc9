"""Buffers of TensorArrays as tensors: what a tensor cannot hold is an error there, never other numbers."""

from __future__ import annotations

import pytest

import weft as tf
from tests.ops.tensorflow_forms.written import assert_the_same_in_first_ops


def test_an_array_that_nothing_was_written_to_has_the_shape_that_is_known() -> None:
    rows = tf.placeholder_with_default(tf.zeros([0, 3]), [None, 3])
    assert_the_same_in_first_ops(tf.map_fn(lambda row: row * 2, rows))


def test_elements_of_other_shapes_are_refused() -> None:
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    array = array.write(0, tf.ones([1])).write(1, tf.ones([2])).write(2, tf.ones([3]))
    name = array.concat().name
    with tf.Session() as session:
        assert session.run(name).tolist() == [1.0] * 6
    written = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as again, tf.Session(graph=again) as session:
        tf.import_graph_def(written, name="")
        with pytest.raises(tf.errors.InvalidArgumentError, match="TensorArray has elements of several shapes"):
            session.run(name)

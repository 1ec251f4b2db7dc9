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


@pytest.mark.parametrize("lengths", [[2, 2], [4], []])
def test_parts_of_one_length_are_a_tensor(lengths: list[int]) -> None:
    rows = tf.placeholder_with_default(tf.range(float(sum(lengths))), [None])
    given = tf.placeholder_with_default(tf.constant(lengths, tf.int32), [None])
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False).split(tf.stack([rows, rows], 1), given)
    assert_the_same_in_first_ops(array.size() if not lengths else array.read(0))


@pytest.mark.parametrize("is_known", [True, False])
def test_parts_of_other_lengths_are_refused(is_known: bool) -> None:
    lengths = tf.constant([1, 3, 2]) if is_known else tf.placeholder_with_default([1, 3, 2], [3])
    name = tf.TensorArray(tf.float32, 3, infer_shape=False).split(tf.range(6.0), lengths).read(1).name
    with tf.Session() as session:
        assert session.run(name).tolist() == [1.0, 2.0, 3.0]
    written = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as again, tf.Session(graph=again) as session:
        tf.import_graph_def(written, name="")
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"elements of several shapes.*split by lengths"):
            session.run(name)

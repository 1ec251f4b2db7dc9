"""Indices out of range, interpreted and compiled, and gathering with batch dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import each_way, own_graph, session  # noqa: F401 - the fixture is used by its name

ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def _raises(way: str, made: Any, text: str, feeds: Any = None) -> None:
    with session(way) as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        sess.run(made, feeds)


@each_way
def test_a_gather_refuses_indices_that_are_fed(way: str) -> None:
    indices = tf.placeholder(tf.int32, [None])
    taken = tf.gather(tf.placeholder_with_default(ROWS, [None, 4]), indices, axis=1)
    _raises(way, taken, r"indices\[1\] = 4 is not in \[0, 4\)", {indices: [0, 4]})
    _raises(way, taken, r"indices\[0\] = -1 is not in \[0, 4\)", {indices: [-1]})


@each_way
def test_a_gather_refuses_a_constant_index(way: str) -> None:
    _raises(way, tf.gather(tf.exp(tf.constant(ROWS)), 3), r"indices = 3 is not in \[0, 3\)")


@each_way
def test_positions_out_of_range_are_refused(way: str) -> None:
    rows = tf.exp(tf.constant(ROWS))
    _raises(way, tf.gather_nd(rows, [[0, 1], [3, 0]]), r"indices\[1\] = \[3, 0\] does not index into param shape \[3,4\]")
    _raises(way, tf.scatter_nd([[5]], [1.0], [5]), r"indices\[0\] = \[5\] does not index into shape \[5\]")
    _raises(way, tf.tensor_scatter_update(rows, [[0, 4]], [1.0]), r"\[0, 4\] does not index into shape \[3,4\]")


@each_way
def test_a_negative_batch_dimension_counts_from_the_rank_of_the_indices(way: str) -> None:
    taken = tf.gather(tf.constant(CUBE), [[0, 1, 1], [2, 0, 3]], axis=2, batch_dims=-1)
    with session(way) as sess:
        found = sess.run(taken)
    np.testing.assert_array_equal(found, np.stack([CUBE[0][:, [0, 1, 1]], CUBE[1][:, [2, 0, 3]]]))


@each_way
def test_gather_nd_takes_batch_dimensions(way: str) -> None:
    cube = tf.placeholder(tf.float32, [None, 3, 4])
    rows = tf.gather_nd(cube, [[0], [2]], batch_dims=1)
    cells = tf.gather_nd(cube, [[[0, 1]], [[2, 3]]], batch_dims=1)
    with session(way) as sess:
        found_rows, found_cells = sess.run([rows, cells], {cube: CUBE})
    np.testing.assert_array_equal(found_rows, np.stack([CUBE[0, 0], CUBE[1, 2]]))
    np.testing.assert_array_equal(found_cells, [[CUBE[0, 0, 1]], [CUBE[1, 2, 3]]])


def test_gather_nd_needs_fewer_batch_dimensions_than_there_are() -> None:
    with pytest.raises(ValueError, match=r"batch_dims = 2 must be less than rank\(indices\) = 2"):
        tf.gather_nd(CUBE, [[0], [1]], batch_dims=2)


def test_a_shape_that_an_earlier_stage_has_made_is_known_to_a_compiled_scatter() -> None:
    size = tf.cast(3, tf.int64)
    with tf.control_dependencies([tf.py_func(lambda x: x, [size], tf.int64)]):
        updates = tf.identity(tf.ones([1]))
    with session("compiled") as sess:
        assert sess.run(tf.scatter_nd(tf.constant([[1]], tf.int64), updates, tf.stack([size]))).tolist() == [0.0, 1.0, 0.0]


def test_strings_at_one_position_are_joined() -> None:
    with tf.Session() as session:
        assert session.run(tf.scatter_nd([[1], [1], [0]], ["a", "b", "c"], [3])).tolist() == [b"c", b"ab", b""]


@pytest.mark.parametrize("indices", [np.zeros(0, np.int32), np.zeros((0, 1), np.int32)])
def test_nothing_is_put_into_nothing(indices: np.ndarray) -> None:
    with tf.Session() as session:
        assert session.run(tf.scatter_nd(indices, np.zeros(0, np.int32), [0])).tolist() == []

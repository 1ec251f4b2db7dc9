"""Integer division by zero and integers to negative powers, interpreted and compiled."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf
from tests.ops.both_ways import each_way, own_graph, session  # noqa: F401 - the fixture is used by its name


@each_way
@pytest.mark.parametrize("function", [tf.floordiv, tf.floormod, tf.truncatediv, tf.truncatemod, tf.div])
def test_dividing_integers_by_zero_is_an_error(way: str, function: Any) -> None:
    by = tf.placeholder(tf.int32, [None])
    quotient = function(tf.constant([6, 7]), by)
    with session(way) as sess:
        assert sess.run(quotient, {by: [3, 7]}).tolist()[0] in (2, 0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            sess.run(quotient, {by: [3, 0]})


@each_way
def test_integers_have_no_negative_powers(way: str) -> None:
    exponent = tf.placeholder(tf.int32, [])
    with session(way) as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Integers to negative integer powers"):
        sess.run(tf.pow(tf.constant([2, 3]), exponent), {exponent: -1})


def test_a_divisor_that_the_stage_computes_is_divided_by() -> None:
    ids = tf.placeholder(tf.int32, [None])
    quotient = tf.floordiv(ids, tf.reduce_sum(ids) // tf.reduce_sum(ids) + 1)
    with tf.Session() as session:
        for _ in range(8):  # the last of them compiled
            assert session.run(quotient, {ids: [4, 6]}).tolist() == [2, 3]


@each_way
def test_dividing_rows_and_sparse_values_by_zero_is_an_error(way: str) -> None:
    by = tf.placeholder(tf.int32, [2])
    rows = tf.get_variable("rows", initializer=tf.constant([6, 7, 8]), use_resource=True)
    divided = tf.raw_ops.ResourceScatterDiv(resource=rows.handle, indices=[0, 1], updates=by)
    sparse = tf.raw_ops.SparseDenseCwiseDiv(sp_indices=[[0], [1]], sp_values=[6, 7], sp_shape=[2], dense=by)
    with session(way) as sess:
        sess.run(rows.initializer)
        sess.run(divided, {by: [3, 7]})
        assert sess.run(rows).tolist() == [2, 1, 8]
        assert sess.run(sparse, {by: [3, 7]}).tolist() == [2, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="updates must not contain 0"):
            sess.run(divided, {by: [3, 0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot divide by zero"):
            sess.run(sparse, {by: [3, 0]})


@each_way
def test_positions_beyond_an_array_have_no_coordinates(way: str) -> None:
    positions = tf.placeholder(tf.int32, [None])
    with session(way) as sess:
        coordinates = tf.unravel_index(positions, [2, 3])
        assert sess.run(coordinates, {positions: [1, 5]}).tolist() == [[0, 1], [1, 2]]
        for wrong in (6, -1):
            with pytest.raises(tf.errors.InvalidArgumentError, match="index is out of bound as with dims"):
                sess.run(coordinates, {positions: [1, wrong]})

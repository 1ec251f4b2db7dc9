"""map_fn, scan, foldl and foldr, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import assert_gradient, each_way, own_graph, session

_ = own_graph

VALUE = np.linspace(-0.8, 0.9, 12).reshape(4, 3)


@each_way
@pytest.mark.parametrize("dims", [[4, 3], [None, 3]])
def test_map_fn_maps_the_parts(way, dims):
    x = tf.placeholder(tf.float64, dims)
    y = tf.map_fn(lambda row: tf.sin(row) * 2, x)
    assert y.shape.as_list() == dims
    with session(way) as sess:
        np.testing.assert_allclose(sess.run(y, {x: VALUE}), np.sin(VALUE) * 2)
        assert_gradient(sess, y, x, VALUE)


@each_way
def test_map_fn_takes_and_returns_structures(way):
    x = tf.placeholder(tf.float64, [4, 3])
    sums, firsts = tf.map_fn(lambda t: (t[0] + t[1], t[0][0]), (x, x * 2), dtype=(tf.float64, tf.float64))
    with session(way) as sess:
        made = sess.run([sums, firsts], {x: VALUE})
    np.testing.assert_allclose(made[0], VALUE * 3)
    np.testing.assert_allclose(made[1], VALUE[:, 0])


@each_way
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("has_initializer", [False, True])
def test_scan_returns_all_results(way, reverse, has_initializer):
    x = tf.placeholder(tf.float64, [4, 3])
    initializer = tf.ones([3], tf.float64) if has_initializer else None
    y = tf.scan(lambda a, b: a * 0.5 + b, x, initializer, reverse=reverse)
    rows = VALUE[::-1] if reverse else VALUE
    state, expected = (np.ones(3) if has_initializer else None), []
    for row in rows:
        state = row if state is None else state * 0.5 + row
        expected.append(state)
    with session(way) as sess:
        np.testing.assert_allclose(sess.run(y, {x: VALUE}), expected[::-1] if reverse else expected)
        assert_gradient(sess, tf.square(y), x, VALUE)


@each_way
def test_folds_from_both_ends(way):
    x = tf.placeholder(tf.float64, [4, 3])
    left, right = (fold(lambda a, b: a * 0.5 + b, x) for fold in (tf.foldl, tf.foldr))
    with session(way) as sess:
        weights = np.array([0.125, 0.25, 0.5, 1.0])[:, None]
        np.testing.assert_allclose(sess.run(left, {x: VALUE}), (VALUE * weights).sum(0))
        np.testing.assert_allclose(sess.run(right, {x: VALUE}), (VALUE[::-1] * weights).sum(0))
        assert_gradient(sess, left * right, x, VALUE)


def test_refuses_scalars_and_what_cannot_be_called():
    with pytest.raises(ValueError, match="1\\+ dimensional"):
        tf.map_fn(lambda x: x, 3.0)
    for function in (tf.map_fn, tf.scan, tf.foldl, tf.foldr):
        with pytest.raises(TypeError, match="fn must be callable"):
            function(3, [1.0])

"""Splines through values at points, and images warped by them: the numbers are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph as own_graph

_RANDOM = np.random.RandomState(0)
POINTS, VALUES, QUERY = (_RANDOM.rand(*shape).astype(np.float32) for shape in ((2, 5, 2), (2, 5, 3), (2, 4, 2)))


@pytest.mark.parametrize(
    ("order", "weight", "expected"),
    [
        (1, 0.0, [0.34412, 0.41265, 0.54915]),
        (2, 0.0, [0.27127, 0.15627, 0.64188]),
        (3, 0.0, [0.24076, -0.13060, 0.74781]),
        (4, 0.0, [0.05757, -0.03380, 0.70379]),
        (5, 0.0, [0.23997, 0.83873, 0.38540]),
        (2, 0.3, [0.39535, 0.67188, 0.45443]),
        (3, 0.3, [0.40241, 0.70946, 0.44068]),
    ],
)
def test_a_spline_of_an_order(order, weight, expected) -> None:
    made = tf.contrib.image.interpolate_spline(POINTS, VALUES, QUERY, order, weight)
    assert made.shape.as_list() == [2, 4, 3]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(made)[0, 0], expected, rtol=2e-3)


def test_a_spline_has_its_values_at_its_points_and_gradients_of_both() -> None:
    points, query = tf.placeholder(tf.float32, [None, None, 2]), tf.constant(QUERY)
    made = tf.contrib.image.interpolate_spline(points, VALUES, points, 2)
    of_query = tf.gradients(tf.contrib.image.interpolate_spline(POINTS, VALUES, query, 2), query)[0]
    known = tf.constant(POINTS)
    of_points = tf.gradients(tf.contrib.image.interpolate_spline(known, VALUES, QUERY, 3), known)[0]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(made, {points: POINTS}), VALUES, atol=1e-3)
        np.testing.assert_allclose(session.run(of_query)[0, 0], [0.727, 3.875], rtol=1e-2)
        np.testing.assert_allclose(session.run(of_points)[0, 0], [26.32, 23.10], rtol=1e-2)


_IMAGES = np.random.RandomState(7).rand(2, 6, 5, 1).astype(np.float32)
_SOURCE = np.array([[[1, 1], [1, 3], [4, 2]]] * 2, np.float32)


def test_a_warp_leaves_images_as_they_are_where_points_stay_and_moves_them_with_the_points() -> None:
    still, none = tf.contrib.image.sparse_image_warp(_IMAGES, _SOURCE, _SOURCE, num_boundary_points=1)
    moved, flow = tf.contrib.image.sparse_image_warp(_IMAGES, _SOURCE, _SOURCE + np.float32([1, 0]))
    assert (moved.shape.as_list(), flow.shape.as_list()) == ([2, 6, 5, 1], [2, 6, 5, 2])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(still), _IMAGES, atol=1e-5)
        np.testing.assert_allclose(session.run(none), np.zeros((2, 6, 5, 2)), atol=1e-5)
        np.testing.assert_allclose(session.run(moved)[:, 1:], _IMAGES[:, :-1], atol=1e-3)


def test_the_border_stays_where_it_is_asked_to() -> None:
    _, corners = tf.contrib.image.sparse_image_warp(_IMAGES, _SOURCE, _SOURCE + 0.5, num_boundary_points=1)
    _, edges = tf.contrib.image.sparse_image_warp(_IMAGES, _SOURCE, _SOURCE + 0.5, num_boundary_points=2)
    with tf.Session() as session:
        at_corners, at_edges = session.run([corners, edges])
    np.testing.assert_allclose(at_corners[:, [0, 0, 5, 5], [0, 4, 0, 4]], np.zeros((2, 4, 2)), atol=1e-3)
    assert np.abs(at_corners[:, 0, 2]).max() > 1e-2
    np.testing.assert_allclose(at_edges[:, [0, 5], [2, 2]], np.zeros((2, 2, 2)), atol=1e-3)
    np.testing.assert_allclose(at_edges[:, 4, 2], np.full((2, 2), 0.5), atol=0.5)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: tf.contrib.image.interpolate_spline(POINTS[0], VALUES, QUERY, 2), "train_points must have 3 dimensions"),
        (lambda: tf.contrib.image.interpolate_spline(POINTS, VALUES, QUERY, 0), "order must be above 0"),
        (lambda: tf.contrib.image.sparse_image_warp(tf.placeholder(tf.float32, [2, None, 5, 1]), _SOURCE, _SOURCE),
         "of a known height and width"),
        (lambda: tf.contrib.image.sparse_image_warp(_IMAGES, _SOURCE, _SOURCE, num_boundary_points=-1), "must be 0 or more"),
    ],
)  # fmt: skip
def test_what_has_no_spline_is_refused(ask, told) -> None:
    with pytest.raises(ValueError, match=told):
        ask()

"""with_space_to_batch, and patches of volumes by their public name: the numbers are TensorFlow 1.15's."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph as own_graph

X = np.random.RandomState(0).rand(2, 7, 9, 2).astype(np.float32)
KERNEL = np.random.RandomState(1).rand(3, 3, 2, 2).astype(np.float32)


def _convolved(x, num_spatial_dims, padding):
    assert num_spatial_dims == 2
    return tf.nn.conv2d(x, KERNEL, [1, 1, 1, 1], padding)


@pytest.mark.parametrize(
    ("rate", "padding", "first"), [([2, 2], "SAME", 7.3472), ([2, 2], "VALID", 15.398), ([1, 3], "SAME", 7.5055)]
)
def test_a_convolution_with_gaps_is_one_without(rate, padding, first) -> None:
    made = tf.nn.with_space_to_batch(tf.constant(X), rate, padding, _convolved, filter_shape=[3, 3], spatial_dims=[1, 2])
    meant = tf.nn.convolution(X, KERNEL, padding, dilation_rate=rate)
    with tf.Session() as session:
        found, expected = session.run([made, meant])
    assert made.shape.as_list() == list(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(found.sum(axis=(0, 3))[0, 0], first, rtol=1e-4)


def test_sizes_may_be_known_to_runs_alone() -> None:
    x = tf.placeholder(tf.float32, [None, None, None, 2])
    made = tf.nn.with_space_to_batch(x, [2, 3], "SAME", _convolved, filter_shape=[3, 3])
    with tf.Session() as session:
        for size in ((7, 9), (4, 5)):
            fed = X[:, : size[0], : size[1]]
            expected = session.run(tf.nn.convolution(fed, KERNEL, "SAME", dilation_rate=[2, 3]))
            np.testing.assert_allclose(session.run(made, {x: fed}), expected, rtol=1e-5)


def test_an_operation_is_called_as_it_is_where_there_are_no_gaps() -> None:
    seen = []

    def pooled(converted_input, num_spatial_dims, padding):
        seen.append((converted_input.shape.as_list(), num_spatial_dims, padding))
        return tf.nn.max_pool(converted_input, [1, 2, 2, 1], [1, 1, 1, 1], padding)

    assert tf.nn.with_space_to_batch(tf.constant(X), [1, 1], "SAME", pooled).shape.as_list() == [2, 7, 9, 2]
    assert tf.nn.with_space_to_batch(tf.constant(X), [2, 2], "VALID", pooled).shape.as_list()[1:3] == [5, 7]
    assert seen == [([2, 7, 9, 2], 2, "SAME"), ([8, 4, 5, 2], 2, "VALID")]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"padding": "SAME"}, "filter_shape must be specified for SAME padding"),
        ({"padding": "FOO"}, "Invalid padding method 'FOO'"),
        ({"dilation_rate": [0, 2]}, "dilation_rate must be positive"),
        ({"dilation_rate": 2}, "rate must be rank 1"),
        ({"spatial_dims": [2, 1]}, "spatial_dims must be a montonically increasing sequence"),
    ],
)
def test_what_has_no_windows_is_refused(options, told) -> None:
    given = {"dilation_rate": [2, 2], "padding": "VALID", "op": _convolved, **options}
    with pytest.raises(ValueError, match=told):
        tf.nn.with_space_to_batch(tf.constant(X), **given)


def test_blocks_of_volumes() -> None:
    volumes = tf.constant(np.arange(480).reshape(2, 4, 5, 6, 2).astype(np.float32))
    made = tf.extract_volume_patches(volumes, [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], "VALID")
    assert made.shape.as_list() == [2, 3, 2, 2, 24]
    with tf.Session() as session:
        found, grad = session.run([made, tf.gradients(made * made, volumes)[0]])
    assert found[0, 0, 0, 0, :8].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 12.0, 13.0]
    assert grad[0, 1, 2, :2].tolist() == [[336.0, 340.0], [344.0, 348.0]]
    with pytest.raises(ValueError, match="must be rank 5 but is rank 4"):
        tf.extract_volume_patches(volumes[0], [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], "VALID")

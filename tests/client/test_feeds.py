"""A feed of any form becomes an array that fits its tensor, or an error that says what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client import feeds


def fed(dtype: tf.DType, shape: Any, value: Any) -> Any:
    return feeds.as_feed(tf.placeholder(dtype, shape, name="x"), value)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (tf.float32, 1, np.float32(1)), (tf.float32, [[1, 2.5]], [[1, 2.5]]), (tf.float32, ["1", "2"], [1, 2]),
        (tf.float32, [None], [np.nan]), (tf.float32, [np.array([1, 2]), (3, 4)], [[1, 2], [3, 4]]), (tf.int32, [1.0], [1]),
        (tf.int32, [True], [1]), (tf.int64, 2**40, 2**40), (tf.bool, [0, 2], [False, True]), (tf.complex64, 1j, 1j),
        (tf.string, "é", "é".encode()), (tf.string, ["a", b"b\0"], [b"a", b"b\0"]),
        (tf.string, np.array(["a", "bb"]), [b"a", b"bb"]),
        (tf.float32, [], []), (tf.int32, range(3), [0, 1, 2]), (tf.int32, np.arange(2, dtype=np.uint8), [0, 1]),
    ],
)  # fmt: skip
def test_values_become_arrays_of_the_tensors_dtype(graph: tf.Graph, dtype: tf.DType, value: Any, expected: Any) -> None:
    array = fed(dtype, None, value)
    assert array.dtype == dtype.as_numpy_dtype
    np.testing.assert_array_equal(array, np.array(expected, array.dtype))


def test_an_array_that_fits_is_not_copied(graph: tf.Graph) -> None:
    array = np.ones((2, 3), np.float32)
    assert fed(tf.float32, [None, 3], array) is array


def test_none_is_false_to_a_bool_as_in_tensorflow(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.bool, name="x")
    with tf.Session() as session:
        assert session.run(tf.logical_not(x), {x: None}).tolist() is True


@pytest.mark.parametrize(
    ("dtype", "shape", "value", "error", "message"),
    [
        (tf.float32, [None, 2], [1, 2], ValueError, r"Cannot feed value of shape \(2,\) .* has shape '\(\?, 2\)'"),
        (tf.float32, [], [1], ValueError, r"Cannot feed value of shape \(1,\) for Tensor 'x:0', which has shape '\(\)'"),
        (tf.int32, None, 1.7, TypeError, r"Type of feed value 1.7 with type .* 1.7 would become 1.*x <unknown>"),
        (tf.int64, None, np.array([1, 2.5]), TypeError, r"2.5 at \[1\] would become 2"),
        (tf.uint8, None, np.array([3, 300]), TypeError, r"300 at \[1\] would become 44"),
        (tf.float32, [], None, TypeError, "Cannot feed None for Tensor 'x:0'"),
        (tf.int32, None, 2**40, TypeError, "Type of feed value 1099511627776 with type .* is not compatible"),
        (tf.int8, None, 300, TypeError, "Try explicitly setting the type of the feed tensor to a larger type"),
        (tf.int32, None, [2**40], TypeError, "is not compatible with Tensor type"),
        (tf.float32, None, "x", ValueError, "Tensor 'x:0'.*could not convert string to float: 'x'"),
        (tf.float32, None, [[1, 2], [3]], ValueError, "inhomogeneous"),
        (tf.float32, None, {}, TypeError, "Cannot feed a value of type dict for Tensor 'x:0'"),
        (tf.string, None, 3, TypeError, "Expected string, got 3"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(
    graph: tf.Graph, dtype: tf.DType, shape: Any, value: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fed(dtype, shape, value)


def test_a_tensor_is_no_value(graph: tf.Graph) -> None:
    with pytest.raises(TypeError, match=r"The value of a feed cannot be a tf\.Tensor object"):
        fed(tf.float32, None, tf.constant(1.0))


def test_keys_are_tensors_names_or_structures_of_them(graph: tf.Graph) -> None:
    x, y = tf.placeholder(tf.float32, name="x"), tf.constant(1, name="y")
    variable = tf.Variable(1.0, name="v")
    assert feeds.resolve(graph, {x: 1, "y:0": 2, variable: 3}) == {x: 1, y: 2, variable._variable: 3}
    assert feeds.resolve(graph, {(x, (y,)): (1, [2])}) == {x: 1, y: 2}
    assert feeds.resolve(graph, {x: 1, "x:0": 2}) == {x: 2}
    sparse = tf.sparse_placeholder(tf.float32)
    parts = feeds.resolve(graph, {sparse: ([[0]], [1.0], [2])})
    assert list(parts.values()) == [[[0]], [1.0], [2]]


@pytest.mark.parametrize("key", [3, None, "zz", "zz:0", "x", 1.5])
def test_what_is_no_tensor_is_no_key(graph: tf.Graph, key: Any) -> None:
    tf.placeholder(tf.float32, name="x")
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor: "):
        feeds.resolve(graph, {key: 1})


def test_feed_dicts_that_are_none_and_values_that_do_not_match_their_keys_are_refused(graph: tf.Graph) -> None:
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    for feed_dict in ([x], 3, "x"):
        with pytest.raises(TypeError, match="feed_dict must be a dictionary"):
            feeds.resolve(graph, feed_dict)
    for value in (3, [1], [1, 2, 3]):
        with pytest.raises(ValueError, match="the key has 2 tensors"):
            feeds.resolve(graph, {(x, y): value})
    with pytest.raises(TypeError, match="Cannot interpret feed_list key as Tensor"):
        feeds.tensors_of(graph, [x, 3])


def test_a_tensor_may_be_kept_from_being_fed(graph: tf.Graph) -> None:
    constant = tf.constant(1.0)
    graph.prevent_feeding(constant)
    with pytest.raises(ValueError, match=r"may not be fed\."):
        feeds.resolve(graph, {constant: 2.0})

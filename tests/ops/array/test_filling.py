"""The nodes that tensors of one value are made of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft as tf


def _nodes_of(make: Callable[[tf.Tensor], tf.Tensor]) -> list[str]:
    with tf.Graph().as_default() as graph:
        size = tf.placeholder(tf.int32, [], name="size")
        make(size)
        return [op.name for op in graph.get_operations() if op.name != "size"]


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (
            lambda size: tf.zeros([size, 3]),
            [
                "zeros/mul/y",
                "zeros/mul",
                "zeros/Less/y",
                "zeros/Less",
                "zeros/packed/1",
                "zeros/packed",
                "zeros/Const",
                "zeros",
            ],
        ),
        (lambda size: tf.ones([size]), ["ones/Less/y", "ones/Less", "ones/packed", "ones/Const", "ones"]),
        (lambda _: tf.zeros(3), ["zeros/shape_as_tensor", "zeros/Const", "zeros"]),
        (lambda _: tf.zeros([3]), ["zeros"]),
        (lambda _: tf.zeros_like([1, 2]), ["zeros_like/tensor", "zeros_like"]),
    ],
)
def test_they_are_tensorflows(make: Callable[[tf.Tensor], tf.Tensor], names: list[str]) -> None:
    assert _nodes_of(make) == names


def test_a_size_that_a_run_tells_is_compared_in_no_run() -> None:
    size = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        assert session.run(tf.zeros([size, 2]), {size: 1}).tolist() == [[0.0, 0.0]]
        assert session.run(tf.ones(2)).tolist() == [1.0, 1.0]


def test_zeros_like_takes_false_for_no_dtype_as_in_tensorflow() -> None:
    assert tf.zeros_like(tf.ones([2], tf.int64), False).dtype == tf.int64

"""Blocks of space and batch: what is refused while the graph is built, and what only a run can refuse."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

IMAGES = np.zeros((4, 2, 2, 1), np.float32)
EVEN = [[0, 0], [0, 0]]

REFUSED = {
    "no block": (tf.batch_to_space_nd, [0, 1], EVEN, "block_shape must be positive"),
    "a negative block": (tf.space_to_batch_nd, [-1, 1], EVEN, "block_shape must be positive"),
    "negative crops": (tf.batch_to_space_nd, [2, 2], [[0, -1], [0, 0]], "crops cannot be negative"),
    "negative paddings": (tf.space_to_batch_nd, [2, 2], [[0, -1], [0, 0]], "paddings cannot be negative"),
    "crops that leave nothing": (
        tf.batch_to_space_nd, [2, 2], [[3, 2], [0, 0]], "Negative dimension size caused by subtracting 2 from 1",
    ),
    "a batch of another size": (
        tf.batch_to_space_nd, [2, 3], EVEN, "Dimension size must be evenly divisible by 3 but is 2 for",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("function", "block", "margins", "text"), REFUSED.values(), ids=REFUSED)
def test_wrong_blocks_are_refused_while_the_graph_is_built(function: object, block: object, margins: object, text: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        function(IMAGES, block, margins)  # type: ignore[operator]


REFUSED_IN_A_RUN = {
    "no block": ([0, 1], EVEN, "block_shape must be positive"),
    "negative crops": ([2, 2], [[0, -1], [0, 0]], "crops cannot be negative"),
    "crops that leave nothing": ([2, 2], [[3, 2], [0, 0]], r"cropped_shape\[0\]=-1 must be non-negative"),
    "crops of one dimension": ([2, 2], [[0, 0]], r"crops should have shape \[2, 2\] instead of \[1, 2\]"),
}


@pytest.mark.parametrize(("block", "crops", "text"), REFUSED_IN_A_RUN.values(), ids=REFUSED_IN_A_RUN)
def test_wrong_blocks_are_refused_in_a_run(block: object, crops: object, text: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32)]
        whole = tf.batch_to_space_nd(tf.placeholder_with_default(IMAGES, None), *fed)
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(whole, dict(zip(fed, [block, crops], strict=True)))


@pytest.mark.parametrize("function", [tf.batch_to_space, tf.space_to_batch])
def test_square_blocks_are_of_images(function: object) -> None:
    with tf.Graph().as_default():
        margins = tf.placeholder(tf.int32)
        assert function(tf.placeholder(tf.float32), margins, 4).shape.as_list() == [None] * 4  # type: ignore[operator]
        with pytest.raises(ValueError, match=r"must have rank 4"):
            function(IMAGES[..., 0], EVEN, 2)  # type: ignore[operator]


@pytest.mark.parametrize("base", [None, [[1, 1], [0, 2]]])
def test_paddings_for_blocks_that_a_run_tells_are_those_for_known_ones(base: object) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sizes, block = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [2])
        fed = session.run(tf.required_space_to_batch_paddings(sizes, block, base), {sizes: [5, 3], block: [3, 2]})
        known = session.run(tf.required_space_to_batch_paddings([5, 3], [3, 2], base))
        np.testing.assert_array_equal(fed, known)
        with pytest.raises(ValueError, match="block_shape must have rank 1 and a known size"):
            tf.required_space_to_batch_paddings([5, 3], tf.placeholder(tf.int32))

"""Arguments that TensorFlow 1.15.5 refuses while the graph is built, asked of it, with its class and words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft as tf

IMAGES, FILTERS = [1, 4, 4, 2], [2, 2, 2, 1]
ROWS = [
    (lambda: tf.scan(lambda a, x: a + x, tf.ones([3]), infer_shape=1.5), TypeError, "Expected bool for argument 'identical"),
    (lambda: tf.map_fn(lambda x: x, tf.ones([3]), infer_shape="x"), TypeError, "Expected bool for argument 'identical"),
    (lambda: tf.contrib.staging.StagingArea([tf.float32], shared_name=3), ValueError, "shared_name must be a string"),
    (lambda: tf.contrib.lookup.index_table_from_tensor("a"), ValueError, "Shape must be rank 1 but is rank 0"),
    (lambda: tf.contrib.lookup.index_table_from_tensor([["a"]]), ValueError, "Shape must be rank 1 but is rank 2"),
    (lambda: tf.contrib.lookup.index_to_string_table_from_tensor("a"), ValueError, "rank 0"),
    (
        lambda: tf.nn.separable_conv2d(
            tf.ones(IMAGES), tf.ones(FILTERS), tf.ones([1, 1, 2, 3]), [1, 1, 1, 1], "SAME", data_format=""
        ),
        ValueError,
        "data_format",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), ROWS)
def test_it_is_refused_where_it_stands(call: Callable[[], object], kind: type[Exception], words: str) -> None:
    with tf.Graph().as_default(), pytest.raises(kind, match=words):
        call()


def test_what_says_nothing_of_shapes_is_taken() -> None:
    with tf.Graph().as_default():
        total = tf.scan(lambda a, x: a + x, tf.ones([3]), infer_shape=None)
    assert total.shape == [3]

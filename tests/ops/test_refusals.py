"""What TensorFlow refuses, or leaves alone, of shapes and values: found by running both on the same cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.registry.op_registry import lookup


def run(fetches: Any) -> Any:
    """The values of tensors."""
    with tf.Session() as session:
        return session.run(fetches)


_BOXES = np.zeros((3, 4), np.float32)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: tf.image.non_max_suppression(_BOXES[:, :3], np.zeros(3, np.float32), 2), "Dimension must be 4 but is 3"),
        (lambda: tf.raw_ops.Einsum(inputs=[np.eye(2), np.eye(2)], equation="ij,jk"), "Expecting exactly one '->'"),
        (lambda: tf.split(np.zeros(3), [-2, 5], num=2), "Split size at index 0 must be >= 0"),
        (lambda: tf.raw_ops.SigmoidGrad(y=np.zeros(6), dy=np.zeros(3)), "must have same number of elements, got 6 and 3"),
        (lambda: tf.raw_ops.UniqueV2(x=np.zeros((3, 2)), axis=np.zeros(0, np.int64)), "x expects a 1D vector"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_when_the_graph_is_built(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: tf.strings.ngrams(tf.RaggedTensor.from_row_splits(["a", "b"], [0, 1, 1], validate=False), 1),
            "Last split value",
        ),
        (lambda: tf.segment_sum(np.ones(4), [0, 0, 0, -2]), "segment ids must be >= 0"),
        (lambda: tf.segment_sum(np.ones(4), [0, 1, 0, 1]), "segment ids are not increasing: 0 comes after 1"),
        (lambda: tf.segment_sum(np.ones(4), [0, 1, 2, 0]), r"Segment id 1 out of range \[0, 1\), possibly because"),
        (lambda: tf.segment_mean(np.ones(4), [-1, -1, 0, 0]), r"Segment id -1 out of range \[0, 1\), possibly because"),
        (lambda: tf.sparse_segment_sum(np.ones(4), [0, -1], [0, 1]), r"indices\[1\] == -1 out of range \[0, 4\)"),
        (
            lambda: tf.sparse_segment_sum(np.ones(4), [0, 1], [0, 5], num_segments=3),
            "segment ids must be < num_segments, but 5 >= 3",
        ),
        (
            lambda: tf.unsorted_segment_sum([[1.0, 2.0]], _fed([[0, 2]]), 2),
            r"segment_ids\[0,1\] = 2 is out of range \[0, 2\)",
        ),
        (lambda: tf.strings.unsorted_segment_join(["a", "b"], [-1, 0], 2), "to have negative values: -1 is not in"),
        (lambda: tf.decode_base64("abcde"), "length cannot be 1 modulo 4"),
        (lambda: tf.reduce_join([["a", "b"]], [-1, 1]), "Duplicate reduction dimension 1"),
        (lambda: tf.argmin(np.zeros(0), 0), r"Reduction axis 0 is empty in shape \[0\]"),
        (lambda: tf.argmax(np.zeros(()), 0), r"Expected dimension in the range \[0, 0\), but got 0"),
        (lambda: tf.scatter_nd(_fed(np.zeros((2, 1), np.int32)), _fed(np.ones((2, 3))), [0, 3]), "specified for empty output"),
        (
            lambda: tf.tensor_scatter_nd_add(_fed(np.zeros((0, 3))), np.zeros((2, 1), np.int32), _fed(np.ones((2, 3)))),
            "empty output",
        ),
        (lambda: tf.roll(_fed(np.zeros(4)), _fed([[1]]), 0), r"shift must be a scalar or a 1-D vector. Found: \[1,1\]"),
        (lambda: tf.roll(_fed(np.zeros(4)), _fed([1, 2]), _fed([0])), "shift and axis must have the same size, not 2 and 1"),
        (lambda: tf.reverse_sequence(_fed(np.zeros((2, 2))), [-1, 2], seq_axis=1), r"seq_lens\(0\) < 0"),
        (lambda: tf.reverse_sequence(_fed(np.zeros((2, 2))), [1, 3], seq_axis=1), r"seq_lens\(1\) > input.dims\(1\)"),
        (lambda: tf.reverse_sequence(_fed(np.zeros((2, 2))), [1, 2], seq_axis=7), r"seq_dim must be < input.dims\(\): 7 vs. 2"),
        (
            lambda: tf.reverse_sequence(_fed(np.zeros((2, 2))), _fed([1, 2, 3]), seq_axis=1),
            r"len\(seq_lens\) != input.dims\(0\), \(3 vs. 2\)",
        ),
        (lambda: tf.sparse.reorder(_sparse([[0, 0, 0]], [2, 2])), "Index rank"),
        (lambda: tf.sparse.maximum(_sparse([[0, 5]], [2, 2]), _sparse([[0, 0]], [2, 2])), "out of bounds"),
        (lambda: tf.sparse.sparse_dense_matmul(_sparse([[0, -1]], [2, 2]), np.eye(2, dtype=np.float32)), "out of bounds"),
    ],
)
def test_values_that_do_not_fit_are_refused_in_the_run(make: Callable[[], Any], match: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        run(make())


def _fed(value: Any) -> tf.Tensor:
    """A tensor of which the graph knows neither value nor shape."""
    return tf.placeholder_with_default(value, None)


def _ragged() -> tf.RaggedTensor:
    return tf.RaggedTensor.from_row_splits(["a", "b"], [0, 1, 1], validate=False)


def _sparse(indices: list[list[int]], shape: list[int]) -> tf.SparseTensor:
    table = tf.placeholder_with_default(np.array(indices, np.int64), None)
    return tf.SparseTensor(table, np.ones(len(indices), np.float32), shape)


def test_samples_of_no_distribution_are_no_numbers() -> None:
    drawn = run(tf.random_gamma([2], [-1.0, float("nan"), float("-inf"), float("inf")], seed=1))
    assert np.isnan(drawn[:, :3]).all()
    assert np.isinf(drawn[:, 3]).all()


def test_an_attribute_is_a_float_of_four_bytes_as_in_a_graph_that_was_read() -> None:
    x = tf.constant([-3.0], tf.float64)
    assert run(tf.nn.leaky_relu(x, 0.2))[0] == -3.0 * float(np.float32(0.2))
    assert lookup("LeakyRelu").attrs["alpha"].default == float(np.float32(0.2))


def test_an_update_that_is_no_number_changes_no_extreme() -> None:
    updated = lookup("ResourceScatterMax").kernel
    assert updated(np, np.array([1.0, 5.0]), np.array([0, 1]), np.array([np.nan, 7.0]), dtype=tf.float64).tolist() == [1, 7]


def test_gradients_of_ragged_rows_go_back_to_their_values() -> None:
    values = tf.constant([1.0, 2.0, 3.0, 4.0])
    rows = tf.raw_ops.RaggedGather(
        params_nested_splits=[tf.constant([0, 3, 4], tf.int64)], params_dense_values=values, indices=[1, 0, 1],
        PARAMS_RAGGED_RANK=1, OUTPUT_RAGGED_RANK=1,
    )  # fmt: skip
    gathered = tf.gradients(rows[-1] * [1.0, 10.0, 100.0, 1000.0, 5.0], values)[0]
    assert run(tf.convert_to_tensor(gathered)).tolist() == [10, 100, 1000, 6]

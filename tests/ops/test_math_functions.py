"""The functions over the math ops: arguments that have two names, names of nodes, shapes, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.testing.op_checks import evaluate


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_reduction_of_all_dimensions_lists_them_in_a_constant(graph: tf.Graph) -> None:
    total = tf.reduce_sum(tf.placeholder(tf.float32, [2, 3]))
    assert [op.name for op in graph.get_operations()[1:]] == ["Const", "Sum"]
    assert total.shape == ()


def test_reduction_of_a_tensor_of_unknown_rank_is_a_scalar_all_the_same() -> None:
    x = tf.placeholder(tf.float32)
    assert tf.reduce_mean(x).shape == ()
    assert tf.reduce_mean(x, keepdims=True).shape.ndims is None
    assert evaluate([tf.reduce_sum(x)], {x: np.ones((2, 3), np.float32)})[0] == 6


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "all", "any", "logsumexp"])
def test_reductions_know_the_older_names_of_their_arguments(name: str) -> None:
    kind = tf.bool if name in ("all", "any") else tf.float32
    reduce = getattr(tf, f"reduce_{name}")
    x = tf.placeholder(kind, [2, 3])
    assert reduce(x, reduction_indices=[1], keep_dims=True).shape == (2, 1)
    with pytest.raises(ValueError, match="Cannot specify both 'reduction_indices' and 'axis'"):
        reduce(x, axis=0, reduction_indices=1)
    with pytest.raises(ValueError, match="Cannot specify both 'keep_dims' and 'keepdims'"):
        reduce(x, keepdims=True, keep_dims=True)


def test_reduction_dimension_that_does_not_exist_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Invalid reduction dimension 2 for input with 2 dimensions"):
        tf.reduce_sum(tf.placeholder(tf.float32, [2, 3]), 2)


def test_sum_of_booleans_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="Value passed to parameter 'input' has DataType bool not in list of allowed values"):
        tf.reduce_sum([True, False])


def test_mean_gradient_of_unknown_shape_divides_by_the_count_of_the_step() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    grad = tf.gradients(tf.reduce_mean(x), x)[0]
    assert np.allclose(evaluate([grad], {x: np.ones((4, 3), np.float32)})[0], 1 / 12)


def test_gradient_of_equal_shapes_adds_no_sum(graph: tf.Graph) -> None:
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    tf.gradients(x * y + x, [x, y])
    assert "SumToLike" not in {op.type for op in graph.get_operations()}


def test_gradient_of_a_bias_leaves_the_batch_alone(graph: tf.Graph) -> None:
    x, bias = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [3])
    tf.gradients(x + bias, [x, bias])
    assert [op.inputs[1] for op in graph.get_operations() if op.type == "SumToLike"] == [bias]


def test_matmul_of_vectors_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        tf.matmul(tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2, 2]))


def test_matmul_of_sizes_that_differ_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 4 and 3 for 'MatMul'"):
        tf.matmul(tf.placeholder(tf.float32, [3, 4]), tf.placeholder(tf.float32, [3, 4]))


def test_matmul_gradient_consists_of_matmuls(graph: tf.Graph) -> None:
    a, b = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [3, 4])
    for grad in tf.gradients(tf.matmul(a, b), [a, b]):
        assert grad.op.type == "MatMul"


def test_cast_to_the_type_it_has_is_the_tensor_itself() -> None:
    x = tf.placeholder(tf.float32)
    assert tf.cast(x, tf.float32) is x


def test_cast_reaches_into_sparse_tensors_and_slices() -> None:
    sparse = tf.SparseTensor([[0]], tf.constant([1.5]), [2])
    slices = tf.IndexedSlices(tf.constant([1.5]), tf.constant([0]))
    assert tf.cast(sparse, tf.int32).dtype is tf.int32
    assert tf.cast(slices, tf.int32).values.dtype is tf.int32


def test_clipping_keeps_indexed_slices() -> None:
    slices = tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([2, 2]))
    for clipped in (
        tf.clip_by_value(slices, -1.0, 1.0),
        tf.clip_by_norm(slices, 1.0),
        tf.clip_by_global_norm([slices], 1.0)[0][0],
    ):
        assert isinstance(clipped, tf.IndexedSlices)
        assert clipped.indices is slices.indices
    assert np.allclose(evaluate([tf.clip_by_norm(slices, 1.0).values], {})[0], [[0.6, 0.8]])


def test_clipping_by_an_infinite_global_norm_gives_nan() -> None:
    clipped, norm = tf.clip_by_global_norm([tf.constant([np.inf, 1.0])], 1.0)
    values = evaluate([clipped[0], norm], {})
    assert np.isnan(values[0]).all()
    assert np.isinf(values[1])


def test_clip_by_value_refuses_bounds_that_widen() -> None:
    with pytest.raises(ValueError, match="incompatible"):
        tf.clip_by_value(tf.constant([1.0]), [0.0, 0.0], 1.0)


def test_global_norm_passes_over_none() -> None:
    assert np.isclose(evaluate([tf.global_norm([tf.constant([3.0]), None, tf.constant([4.0])])], {})[0], 5.0)


@pytest.mark.parametrize(
    ("arguments", "dtype", "expected"),
    [
        ((5,), tf.int32, [0, 1, 2, 3, 4]),
        ((1, 2, 0.5), tf.float32, [1.0, 1.5]),
        ((0, np.int64(3)), tf.int64, [0, 1, 2]),
    ],
)
def test_range_takes_the_widest_type(arguments: Any, dtype: Any, expected: Any) -> None:
    result = tf.range(*arguments)
    assert result.dtype is dtype
    assert evaluate([result], {})[0].tolist() == expected


def test_range_in_the_wrong_direction_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="Requires start <= limit when delta > 0: 5/1"):
        tf.range(5, 1)


def test_integer_division_by_zero_is_invalid() -> None:
    x = tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        evaluate([x // 0], {x: np.array(1, np.int32)})


def test_unsorted_segment_ids_are_invalid_for_sorted_sums() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="segment ids are not increasing"):
        evaluate([tf.segment_sum([1.0, 2.0], [1, 0])], {})


def test_add_n_of_one_tensor_is_that_tensor() -> None:
    x = tf.placeholder(tf.float32)
    assert tf.add_n([x]) is x


def test_add_n_of_nothing_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="inputs must be a list of at least one Tensor/IndexedSlices"):
        tf.add_n([])


def test_cholesky_gradient_is_that_of_symmetric_changes() -> None:
    x = tf.placeholder(tf.float64, [3, 3])
    matrix = np.array([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]])
    change = np.array([[0.1, 0.3, -0.2], [0.3, 0.2, 0.1], [-0.2, 0.1, -0.3]])
    loss = tf.reduce_sum(tf.cholesky(x) * np.arange(1.0, 10.0).reshape(3, 3))
    grad = evaluate([tf.gradients(loss, x)[0]], {x: matrix})[0]
    ahead, behind = (evaluate([loss], {x: matrix + step * change})[0] for step in (1e-6, -1e-6))
    assert np.isclose(np.sum(grad * change), (ahead - behind) / 2e-6)


def test_einsum_equation_that_does_not_fit_is_a_value_error() -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    with pytest.raises(ValueError, match="expected 2, got 1"):
        tf.einsum("ij,jk->ik", x)
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.einsum("ij,ij->ij", x, tf.placeholder(tf.float32, [3, 3]))


def test_a_matrix_of_mostly_zeros_may_be_of_another_width_than_the_other() -> None:
    wide, narrow = tf.constant([[1.0, 0.0], [0.0, 2.0]]), tf.constant([[3, 1], [1, 3]], tf.bfloat16)
    products = [tf.matmul(wide, narrow, a_is_sparse=True), tf.matmul(narrow, wide, transpose_b=True, b_is_sparse=True)]
    with tf.Session() as sess:
        assert [each.tolist() for each in sess.run(products)] == [[[3, 1], [2, 6]], [[3, 2], [1, 6]]]
    assert products[0].dtype is tf.float32
    with pytest.raises(TypeError, match="does not match"):
        tf.matmul(wide, narrow)


def test_addends_of_other_shapes_are_refused_in_a_run() -> None:
    one, other = (tf.placeholder(tf.float32) for _ in range(2))
    total = tf.add_n([one, other])
    with tf.Session() as session:
        assert session.run(total, {one: [1.0], other: [2.0]}).tolist() == [3.0]
        for shape in ([1, 1], [2, 1], []):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"same size and shape\. Input 0: \[3,1\] != input 1: \["):
                session.run(total, {one: np.ones([3, 1]), other: np.ones(shape)})

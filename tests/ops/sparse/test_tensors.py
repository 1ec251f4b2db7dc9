from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.graphs.graph import Graph

DENSE = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [2, 0, 3, 0]], np.float32)


def _nine() -> Any:
    filled = np.zeros((3, 4))
    filled[1, 0] = 9
    return filled


@pytest.fixture
def session() -> Any:
    with Graph().as_default() as graph, tf.Session(graph=graph) as session:
        yield session


def _sparse() -> Any:
    return tf.SparseTensor([[0, 1], [2, 0], [2, 2]], [1.0, 2.0, 3.0], [3, 4])


def test_a_sparse_tensor_is_fetched_as_its_value(session: Any) -> None:
    value = session.run(_sparse())
    assert isinstance(value, tf.SparseTensorValue)
    assert value.indices.tolist() == [[0, 1], [2, 0], [2, 2]]


def test_a_sparse_placeholder_is_fed_whole(session: Any) -> None:
    x = tf.sparse_placeholder(tf.float32, [None, 4], name="x")
    assert x.shape.as_list() == [None, 4]
    dense = tf.sparse_tensor_to_dense(x)
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.float32([5]), np.array([1, 4]))
    assert session.run(dense, {x: value}).tolist() == [[0, 5, 0, 0]]


def test_parts_that_do_not_fit_are_refused() -> None:
    with Graph().as_default(), pytest.raises(ValueError, match="Dimensions 2 and 1 are not compatible"):
        tf.SparseTensor([[0], [1]], [1.0], [3])


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([[2, 0], [0, 1]], r"indices\[1\] = \[0,1\] is out of order"),
        ([[0, 0], [5, 1]], r"indices\[1\] = \[5,1\] is out of bounds: need 0 <= index < \[3,2\]"),
        ([[0, 0], [0, 0]], r"indices\[1\] = \[0,0\] is repeated"),
    ],
)
def test_positions_are_checked(session: Any, indices: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(tf.sparse_to_dense(indices, [3, 2], [5, 6]))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: tf.sparse_add(x, x), DENSE * 2),
        (lambda x: tf.sparse_add(x, np.ones((3, 4), np.float32)), DENSE + 1),
        (lambda x: x * np.float32([1, 2, 3, 4]), DENSE * [1, 2, 3, 4]),
        (lambda x: tf.sparse_concat(1, [x, x]), np.concatenate([DENSE, DENSE], 1)),
        (lambda x: tf.sparse_transpose(x), DENSE.T),
        (lambda x: tf.sparse_reshape(x, [2, -1]), DENSE.reshape(2, 6)),
        (lambda x: tf.sparse_slice(x, [1, 0], [2, 2]), DENSE[1:, :2]),
        (lambda x: tf.sparse_retain(x, [True, False, True]), DENSE * (DENSE != 2)),
        (lambda x: tf.sparse_reset_shape(x), DENSE[:, :3]),
        (lambda x: tf.sparse_fill_empty_rows(x, 9.0)[0], DENSE + _nine()),
        (lambda x: tf.sparse_split(sp_input=x, num_split=2, axis=1)[1], DENSE[:, 2:]),
        (lambda x: tf.sparse_tensor_dense_matmul(x, np.ones((4, 2), np.float32)), DENSE @ np.ones((4, 2))),
        (lambda x: tf.sparse_reduce_sum(x, 1), DENSE.sum(1)),
    ],
)
def test_ops_agree_with_their_dense_forms(session: Any, build: Any, expected: Any) -> None:
    result = build(_sparse())
    dense = tf.sparse_tensor_to_dense(result) if isinstance(result, tf.SparseTensor) else result
    np.testing.assert_allclose(session.run(dense), expected)


def test_ids_become_indicators(session: Any) -> None:
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 0], tf.int64), [2, 2])
    assert session.run(tf.sparse_to_indicator(ids, 4)).tolist() == [[False, True, False, True], [True, False, False, False]]


def test_indexed_slices_become_a_tensor_with_repeated_rows_summed(session: Any) -> None:
    slices = tf.IndexedSlices(tf.constant([[1.0], [2.0], [4.0]]), tf.constant([0, 2, 0]), tf.constant([3, 1]))
    assert session.run(tf.convert_to_tensor(slices)).tolist() == [[5], [0], [2]]


def test_indexed_slices_of_unknown_shape_warn_or_are_refused() -> None:
    with Graph().as_default():
        values, indices = tf.constant([[1.0]]), tf.constant([0])
        with pytest.raises(ValueError, match="without dense_shape"):
            tf.convert_to_tensor(tf.IndexedSlices(values, indices))
        with pytest.warns(UserWarning, match="dense Tensor of unknown shape"):
            tf.convert_to_tensor(tf.IndexedSlices(values, indices, tf.shape(tf.placeholder(tf.float32))))


def test_a_transpose_reverses_dimensions_of_a_rank_that_only_the_step_knows() -> None:
    x = tf.sparse_placeholder(tf.float32)
    with tf.Session() as session:
        for shape in ([2, 3], [2, 3, 4], [5]):
            position = [size - 1 for size in shape]
            found = session.run(tf.sparse_transpose(x), {x: tf.SparseTensorValue([position], [1.5], shape)})
            assert found.dense_shape.tolist() == shape[::-1]
            assert found.indices.tolist() == [position[::-1]]


def test_a_sparse_placeholder_takes_its_shape_from_the_feed_unless_it_is_known() -> None:
    with tf.Graph().as_default():
        assert tf.sparse_placeholder(tf.float32, [None, 4], name="x").dense_shape.op.type == "Placeholder"
        assert tf.sparse_placeholder(tf.float32, [2, 4], name="y").dense_shape.op.type == "Const"


def test_a_product_with_a_dense_tensor_has_either_order_and_quotients_of_integers_are_floats(session: Any) -> None:
    sparse, dense = tf.SparseTensor([[0, 0], [1, 1]], [3, 5], [2, 2]), tf.constant([[2, 7], [7, 2]])
    products = [sparse * dense, dense * sparse]
    assert [each.values.op.name for each in products] == ["mul", "mul_1"]
    assert [each.tolist() for each in session.run([each.values for each in products])] == [[6, 10]] * 2
    quotient = sparse / dense
    assert (quotient.dtype, quotient.values.op.name) == (tf.float64, "truediv")
    assert session.run(quotient.values).tolist() == [1.5, 2.5]
    assert (sparse.with_values(tf.constant([1, 2], tf.int16)) / 2).dtype is tf.float32
    with pytest.raises(TypeError):
        dense + sparse


def test_what_is_joined_has_one_rank(session: Any) -> None:
    parts = [tf.SparseTensor([[0, 0]], [1.0], [2, 2]), tf.SparseTensor([[0, 0, 0]], [1.0], [2, 2, 2])]
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.sparse_concat(0, parts)
    width = tf.placeholder(tf.int64, [None, None]), tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int64, [None])
    joined = tf.sparse_concat(0, [tf.SparseTensor(*width), parts[1]])
    assert (joined.indices.shape.as_list(), joined.dense_shape.shape.as_list()) == ([None, 3], [3])


def test_a_new_shape_is_told_as_far_as_it_is_known(session: Any) -> None:
    sparse = tf.SparseTensor([[0, 3]], [1.0], [4, 4])
    assert tf.sparse_reshape(sparse, tf.stack([tf.placeholder(tf.int64, []), 8])).shape.as_list() == [2, 8]
    with pytest.raises(ValueError, match=r"At most one dimension can be inferred \(-1\)\. Found: \[-1 -1\]"):
        tf.sparse_reshape(sparse, [-1, -1])
    empty = tf.sparse_reshape(tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [0, 4]), [-1, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="reshape cannot infer the missing input size for an empty tensor"):
        session.run(empty)


@pytest.mark.parametrize("name", ["abs", "negative", "sign", "square", "sqrt", "tanh", "erf"])
def test_functions_that_leave_zeros_alone_take_sparse_tensors(session: Any, name: str) -> None:
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [0.25, 4.0], [3, 2])
    found = getattr(tf, name)(sparse)
    assert isinstance(found, tf.SparseTensor)
    assert session.run(found.values).tolist() == session.run(getattr(tf, name)(sparse.values)).tolist()
    assert session.run(found.indices).tolist() == [[0, 1], [2, 0]]


def test_functions_of_which_zero_is_another_number_take_none(session: Any) -> None:
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.exp(_sparse())

"""tf.vectorized_map gives what stacking the results of the function one by one gives."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def test_results_are_those_of_the_parts_with_types_that_the_function_chooses() -> None:
    rows, factors = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([1, 2, 3])
    outer = tf.get_variable("outer", initializer=10.0)

    def function(part: tuple[tf.Tensor, tf.Tensor]) -> dict[str, tf.Tensor]:
        row, factor = part
        return {"sum": tf.reduce_sum(row) * outer, "text": tf.as_string(factor), "matrix": tf.tensordot(row, row, 0)}

    result = tf.vectorized_map(function, (rows, factors))
    assert result["matrix"].shape.as_list() == [3, 2, 2]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(result)
    assert found["sum"].tolist() == [30, 70, 110]
    assert found["text"].tolist() == [b"1", b"2", b"3"]
    values = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    np.testing.assert_allclose(found["matrix"], values[:, :, None] * values[:, None, :])


def test_gradients_go_through_and_the_trial_leaves_nothing_in_the_graph() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.vectorized_map(lambda part: part**2, x)
    assert not [op for op in tf.get_default_graph().get_operations() if "types" in op.name]
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x)[0]).tolist() == [2, 4, 6]


def test_parts_of_unknown_number_may_be_none_at_all() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.vectorized_map(tf.reduce_sum, x)
    with tf.Session() as session:
        assert session.run(y, {x: [[1, 2], [3, 4]]}).tolist() == [3, 7]
        assert session.run(y, {x: np.zeros([0, 2])}).tolist() == []


def test_scalars_and_what_is_no_function_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one dimension"):
        tf.vectorized_map(tf.square, tf.constant(1.0))
    with pytest.raises(TypeError, match="not callable"):
        tf.vectorized_map(None, tf.constant([1.0]))

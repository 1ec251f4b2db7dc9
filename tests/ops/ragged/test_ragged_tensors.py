"""Ragged tensors where a catalogue of one-line programs cannot look: training through them, errors, keeping of structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def test_an_embedding_of_ragged_ids_trains() -> None:
    table = tf.get_variable("table", initializer=np.zeros([4, 2], np.float32))
    ids = tf.ragged.placeholder(tf.int64, 1)
    means = tf.reduce_mean(tf.gather(table, ids), axis=1)
    loss = tf.reduce_sum(tf.square(means - [[1.0, 2.0], [3.0, 4.0]]))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    fed = {ids: tf.ragged.constant_value([[0, 1], [3]])}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(50):
            session.run(train, fed)
        assert session.run(loss, fed) < 1e-6
        np.testing.assert_allclose(session.run(table), [[1, 2], [1, 2], [0, 0], [3, 4]], atol=1e-3)


@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_of_sums_over_rows_are_those_of_the_padded_tensor(axis: int) -> None:
    values = tf.constant([1.0, 2.0, 3.0, 4.0])
    ragged = tf.RaggedTensor.from_row_lengths(values, [1, 0, 3])
    sums = tf.reduce_sum(ragged, axis=axis)
    padded = tf.reduce_sum(ragged.to_tensor(), axis=axis)
    with tf.Session() as session:
        found, expected = session.run([tf.gradients(sums**2, values)[0], tf.gradients(padded**2, values)[0]])
    np.testing.assert_allclose(found, expected)


def test_rows_of_two_ragged_tensors_that_differ_stop_the_run() -> None:
    lengths = tf.placeholder(tf.int64, [None])
    first = tf.RaggedTensor.from_row_lengths([1, 2, 3], lengths)
    total = first + tf.ragged.constant([[1, 2], [3]])
    with tf.Session() as session:
        assert session.run(total, {lengths: [2, 1]}).to_list() == [[2, 4], [6]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast: dimension size mismatch"):
            session.run(total, {lengths: [1, 2]})


def test_a_column_of_size_one_broadcasts_but_rows_of_one_element_do_not() -> None:
    rows = tf.ragged.constant([[1, 2, 3], [4]])
    with tf.Session() as session:
        assert session.run(tf.add(rows, [[10], [20]])).to_list() == [[11, 12, 13], [24]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"), tf.Session() as session:
        session.run(rows + tf.ragged.constant([[10], [20]]))


@pytest.mark.parametrize(
    "made_of",
    [
        lambda rows, others: tf.ragged.boolean_mask(rows, others > 1),
        lambda rows, others: tf.where(rows > 1, rows, others),
        lambda rows, others: tf.ragged.map_flat_values(tf.add, rows, others),
        lambda rows, others: tf.ragged.stack_dynamic_partitions(_as_parts(rows), _as_parts(others), 4),
    ],
)
def test_values_made_of_rows_that_differ_stop_the_run_though_they_are_asked_for_alone(made_of: Any) -> None:
    splits = tf.placeholder(tf.int64, [None])
    rows = tf.RaggedTensor.from_row_splits([1, 2, 3], splits)
    others = tf.ragged.constant([[1, 2], [3]], row_splits_dtype=tf.int64)
    made = made_of(rows, others)
    with tf.Session() as session:
        session.run(made, {splits: [0, 2, 3]})
        for asked in (made, made.flat_values):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"identical ragged splits|incompatible ragged shapes"):
                session.run(asked, {splits: [0, 1, 3]})


def _as_parts(rows: tf.RaggedTensor) -> tf.RaggedTensor:
    """Each number of the rows as a row of its own."""
    return rows.with_values(tf.RaggedTensor.from_row_splits(rows.values, [0, 1, 2, 3]))


def test_values_that_do_not_fit_their_splits_are_told_by_the_run_too() -> None:
    splits = tf.placeholder(tf.int64, [None])
    rows = tf.RaggedTensor.from_row_splits([1, 2, 3], splits)
    with tf.Session() as session:
        assert session.run(rows, {splits: [0, 2, 3]}).to_list() == [[1, 2], [3]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="do not form a valid RaggedTensor"):
            session.run(rows, {splits: [0, 2, 4]})


def test_a_feed_of_another_kind_is_refused_with_the_kind_that_is_expected() -> None:
    fed = tf.ragged.placeholder(tf.int32, 2)
    with tf.Session() as session, pytest.raises(TypeError, match="takes a RaggedTensorValue of 2 ragged dimension"):
        session.run(fed, {fed: tf.ragged.constant_value([[1]])})


def test_a_loop_keeps_the_number_of_rows_and_lets_their_lengths_change() -> None:
    start = tf.ragged.constant([[1], [2, 3]])
    _, grown = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.concat([x, x], axis=1)), [0, start])
    assert grown.shape.as_list() == [2, None]
    with tf.Session() as session:
        assert session.run(grown).to_list() == [[1] * 4, [2, 3] * 4]


def test_a_function_that_takes_no_ragged_tensor_says_so() -> None:
    with pytest.raises(TypeError, match="RaggedTensor"):
        tf.matmul(tf.ragged.constant([[1.0]]), [[1.0]])


def test_a_value_prints_its_rows() -> None:
    value = tf.ragged.constant_value([[1, 2], []], dtype=np.int32)
    assert str(value) == "<tf.RaggedTensorValue [[1, 2], []]>"
    assert value.shape == (2, None)
    assert value.nested_row_splits[0].dtype == np.int64


def _run(made: Any) -> Any:
    with tf.Session() as session:
        found = session.run(made)
    return found.to_list() if isinstance(found, tf.ragged.RaggedTensorValue) else np.asarray(found).tolist()


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        (None, b"a_b_c_d"),
        (0, [[b"a_d"], [b"b", b"c"]]),
        (1, [[b"a_b", b"c"], [], [b"d"]]),
        (-1, [[b"a", b"b_c"], [], [b"d"]]),
        ([1, 2], [b"a_b_c", b"", b"d"]),
    ],
)
def test_strings_are_joined_along_rows(axis: Any, expected: Any) -> None:
    words = tf.ragged.constant([[["a"], ["b", "c"]], [], [["d"]]])
    assert _run(tf.strings.reduce_join(words, axis=axis, separator="_")) == expected
    with pytest.raises(ValueError, match="keepdims=True is not supported"):
        tf.strings.reduce_join(words, axis=1, keepdims=True)


def test_one_ragged_tensor_is_concatenated_alone() -> None:
    assert _run(tf.concat(tf.ragged.constant([[1, 2], [3]]), 0)) == [[1, 2], [3]]
    with pytest.raises(TypeError, match="a list of tensors"):
        tf.stack(tf.ragged.constant([[1, 2], [3]]), 0)


@pytest.mark.parametrize("join", [tf.concat, tf.stack])
@pytest.mark.parametrize("axis", [1, 2])
def test_other_numbers_of_rows_are_refused_before_anything_runs(join: Any, axis: int) -> None:
    deep = [tf.ragged.constant([[[1], [2, 3]], [[4]]]), tf.ragged.constant([[[5]]])]
    with pytest.raises(ValueError, match=r"Dimension 0 .* are 2 and 1. Shapes are \[2,\?,\?\] and .* as many rows each"):
        join(deep, axis=axis)
    assert _run(tf.concat(deep, axis=0)) == [[[1], [2, 3]], [[4]], [[5]]]


@pytest.mark.parametrize("pads", [(b"L", b"R"), ("L", "R")])
def test_pads_of_ngrams_may_be_bytes(pads: Any) -> None:
    words = tf.ragged.constant([["a", "b"], ["c"]])
    assert _run(tf.strings.ngrams(words, 2, pad_values=pads)) == [[b"L a", b"a b", b"b R"], [b"L c", b"c R"]]
    assert _run(tf.strings.ngrams(words, 2, pad_values=pads[0])) == [[b"L a", b"a b", b"b L"], [b"L c", b"c L"]]


@pytest.mark.parametrize("last", [3, 9])
def test_values_of_unknown_rank_become_sparse(last: int) -> None:
    values = tf.placeholder_with_default([[1, 2], [3, 4], [5, 6]], None)
    sparse = tf.RaggedTensor.from_row_splits(values, [0, 2, last], validate=False).to_sparse()
    with tf.Session() as session:
        if last == 9:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Final value of ragged splits must match"):
                session.run(sparse)
            return
        found = session.run(sparse)
    assert found.values.tolist() == [1, 2, 3, 4, 5, 6]
    assert found.indices[-1].tolist() == [1, 0, 1]
    assert found.dense_shape.tolist() == [2, 2, 2]

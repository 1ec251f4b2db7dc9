"""Optionals, and datasets whose elements are optionals or ragged tensors, do what TensorFlow 1.15 does."""

from __future__ import annotations

import pytest

import weft as tf

_data = tf.data.experimental


def test_the_end_of_a_dataset_is_an_optional_without_a_value() -> None:
    iterator = tf.data.Dataset.range(2).make_initializable_iterator()
    maybe = _data.get_next_as_optional(iterator)
    assert maybe.value_structure == tf.TensorSpec([], tf.int64)
    has_value, value = maybe.has_value(), maybe.get_value()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        assert [sess.run([has_value, value]) for _ in range(2)] == [[True, 0], [True, 1]]
        assert not sess.run(has_value)
        with pytest.raises(tf.errors.InvalidArgumentError, match="The given optional does not have a value"):
            sess.run(value)


def test_an_optional_holds_any_element() -> None:
    ragged = tf.ragged.constant([[1], [2, 3]])
    maybe = _data.Optional.from_value((1, {"a": ragged, "b": tf.SparseTensor([[0]], [1], [3])}))
    assert maybe.value_structure == (
        tf.TensorSpec([], tf.int32),
        {"a": tf.RaggedTensorSpec([2, None], tf.int32), "b": tf.SparseTensorSpec([3], tf.int32)},
    )
    with tf.Session() as sess:
        number, rest = sess.run(maybe.get_value())
    assert (number, rest["a"].to_list(), rest["b"].values.tolist()) == (1, [[1], [2, 3]], [1])


def test_branches_and_datasets_carry_optionals() -> None:
    spec = tf.TensorSpec([], tf.int32)
    chosen = tf.cond(
        tf.placeholder_with_default(False, []),
        lambda: _data.Optional.from_value(1),
        lambda: _data.Optional.none_from_structure(spec),
    )
    dataset = tf.data.Dataset.range(3).map(_data.Optional.from_value)
    assert tf.data.get_output_classes(dataset) == tf.OptionalSpec(tf.TensorSpec([], tf.int64))
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert not sess.run(chosen.has_value())
        assert sess.run(element.get_value()) == 0
    with pytest.raises(TypeError, match="cannot be batched"):
        dataset.batch(2)
    with pytest.raises(TypeError, match=r"must be a tf\.data\.Iterator, got 3"):
        _data.get_next_as_optional(3)  # type: ignore[arg-type]


def test_ragged_tensors_are_elements() -> None:
    ragged = tf.ragged.constant([[1], [2, 3]])
    dataset = tf.data.Dataset.from_tensors(ragged)
    assert tf.data.get_output_shapes(dataset).as_list() == [2, None]
    assert tf.data.get_output_classes(dataset) == tf.RaggedTensorSpec([2, None], tf.int32)
    again = dataset.map(lambda rows: rows + 1).repeat(2).batch(2).make_one_shot_iterator().get_next()
    structure = tf.data.Iterator.from_structure(tf.int32, [2, None], output_classes=tf.RaggedTensorSpec([2, None], tf.int32))
    begin, following = structure.make_initializer(dataset), structure.get_next()
    with tf.Session() as sess:
        assert sess.run(again).to_list() == [[[2], [3, 4]], [[2], [3, 4]]]
        sess.run(begin)
        assert sess.run(following).to_list() == [[1], [2, 3]]


def test_rows_of_ragged_tensors_are_elements() -> None:
    deep = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [[4]]])).make_one_shot_iterator().get_next()
    # TensorFlow 1.15 fails at rows that are no longer ragged; later versions give a tensor.
    flat = tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))
    row, pairs = flat.make_one_shot_iterator().get_next(), flat.batch(2).make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert [sess.run(deep).to_list() for _ in range(2)] == [[[1], [2, 3]], [[4]]]
        assert [sess.run(row).tolist() for _ in range(2)] == [[1], [2, 3]]
        assert sess.run(pairs).to_list() == [[1], [2, 3]]

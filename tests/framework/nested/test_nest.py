"""Nested structures: the forms that programs use by tf.nest and tf.contrib.framework.nest."""

from __future__ import annotations

import pytest
from weft.contrib.framework import nest

import weft as tf


def test_a_function_is_mapped_over_leaves_of_all_structures() -> None:
    assert tf.nest.map_structure(lambda x, y: x + y, [1, {"a": 2}], [3, {"a": 4}]) == [4, {"a": 6}]


def test_kinds_of_sequences_may_differ_only_when_types_are_not_checked() -> None:
    with pytest.raises(TypeError, match="same sequence type"):
        tf.nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4))
    assert tf.nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4), check_types=False) == [4, 6]


def test_what_cannot_be_mapped_or_packed_is_refused() -> None:
    with pytest.raises(TypeError, match="func must be callable"):
        tf.nest.map_structure(3, [1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least one structure"):
        tf.nest.map_structure(lambda x: x)
    with pytest.raises(TypeError, match="must be a sequence"):
        tf.nest.pack_sequence_as([1], 7)  # type: ignore[arg-type]


def test_parts_are_taken_where_a_shallow_structure_ends() -> None:
    assert nest.flatten_up_to([0, {"b": 0, "a": 0}], [[1, 2], {"b": 3, "a": (4, 5)}]) == [[1, 2], (4, 5), 3]
    assert nest.map_structure_up_to([0, 0], len, [[1, 2], (3,)]) == [2, 1]


def test_a_structure_that_is_too_shallow_is_refused() -> None:
    with pytest.raises(TypeError, match="input must also be a sequence"):
        nest.assert_shallow_structure([1, [2]], [1, 2])
    with pytest.raises(ValueError, match="same sequence length"):
        nest.assert_shallow_structure([1], [1, 2])


def test_nested_keys_and_values_become_flat() -> None:
    assert nest.flatten_dict_items({("a", "b"): (1, 2), "c": 3}) == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(ValueError, match="key a is not unique"):
        nest.flatten_dict_items({("a", "b"): (1, 2), "a": 3})


def test_composite_tensors_are_expanded_where_that_is_asked_for() -> None:
    sparse, ragged = tf.SparseTensor([[0, 1]], [1.0], [2, 3]), tf.ragged.constant([[1], [2, 3]])
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    structure = [sparse, {"b": ragged, "a": slices}]
    assert tf.nest.flatten(structure) == [sparse, slices, ragged]
    parts = tf.nest.flatten(structure, expand_composites=True)
    # The order is that of 1.15.5.
    assert parts == [
        sparse.indices, sparse.values, sparse.dense_shape, slices.values, slices.indices, ragged.values, ragged.row_splits,
    ]  # fmt: skip
    made = tf.nest.map_structure(tf.identity, structure, expand_composites=True)
    assert [type(each) for each in tf.nest.flatten(made)] == [tf.SparseTensor, tf.IndexedSlices, tf.RaggedTensor]
    with tf.Session() as session:
        assert session.run(made[0]).dense_shape.tolist() == [2, 3]
        assert session.run(made[1]["b"]).to_list() == [[1], [2, 3]]


def test_composite_tensors_that_differ_do_not_fit() -> None:
    sparse, ragged = tf.SparseTensor([[0, 1]], [1.0], [2, 3]), tf.ragged.constant([[1], [2, 3]])
    tf.nest.assert_same_structure([sparse], [tf.SparseTensor([[0, 1]], [2.0], [5, 3])], expand_composites=True)
    with pytest.raises(TypeError, match=r"has type SparseTensor, while second .* has type RaggedTensor"):
        tf.nest.assert_same_structure([sparse], [ragged], expand_composites=True)
    with pytest.raises(ValueError, match="same nested structure"):
        tf.nest.assert_same_structure([sparse], [tf.SparseTensor([[0]], [1], [2])], expand_composites=True)
    with pytest.raises(ValueError, match="is a sequence, while"):
        tf.nest.assert_same_structure([sparse], [1], expand_composites=True)


@pytest.mark.parametrize("flat", [[1], [1, 2, 3]])
def test_a_sequence_of_another_length_is_refused_with_both(flat: list[int]) -> None:
    text = rf"Structure had 2 elements, but flat_sequence had {len(flat)} elements.  Structure: \[0, \(0,\)\], flat_sequence: "
    with pytest.raises(ValueError, match=text):
        tf.nest.pack_sequence_as([0, (0,)], flat)

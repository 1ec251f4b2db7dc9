"""The specs of sparse and ragged tensors, slices and arrays: what they tell, compare and refuse, as TensorFlow 1.15 does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import weft as tf
from weft.framework.types.type_spec import ShapedTypeSpec, type_spec_from_value


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        (tf.SparseTensorSpec([None, 3], tf.int32), "(TensorShape([Dimension(None), Dimension(3)]), tf.int32)"),
        (tf.RaggedTensorSpec([2, None], tf.int32), "(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)"),
        (tf.RaggedTensorSpec(None, tf.int32, 2), "(TensorShape(None), tf.int32, 2, tf.int64)"),
        (tf.TensorArraySpec([2]), "(TensorShape([Dimension(2)]), tf.float32, False, True)"),
        (tf.IndexedSlicesSpec([2, 3], tf.float32, tf.int32, tf.int64, [2]),
         "(TensorShape([Dimension(2), Dimension(3)]), tf.float32, tf.int32, tf.int64, TensorShape([Dimension(2)]))"),
        (tf.OptionalSpec(tf.TensorSpec([])), "(TensorSpec(shape=(), dtype=tf.float32, name=None),)"),
    ],
)  # fmt: skip
def test_a_spec_tells_its_parameters(spec: tf.TypeSpec, shown: str) -> None:
    assert repr(spec) == type(spec).__name__ + shown
    assert isinstance(spec, tf.TypeSpec)
    assert spec == type(spec)._deserialize(spec._serialize())
    assert hash(spec) == hash(type(spec)._deserialize(spec._serialize()))


def test_the_former_names_take_the_type_first() -> None:
    data = tf.data.experimental
    assert data.Structure is tf.TypeSpec
    assert data.OptionalStructure is tf.OptionalSpec
    assert data.TensorStructure(tf.int32, [2]) == tf.TensorSpec([2], tf.int32)
    assert data.SparseTensorStructure(tf.int32, [2]) == tf.SparseTensorSpec([2], tf.int32)
    assert data.RaggedTensorStructure(tf.int32, [2, None], 1) == tf.RaggedTensorSpec([2, None], tf.int32)
    assert data.TensorArrayStructure(tf.int32, [2], True, False) == tf.TensorArraySpec([2], tf.int32, True, False)


def test_values_have_specs_and_specs_make_values() -> None:
    values = [
        tf.SparseTensor([[0]], [1], [3]),
        tf.ragged.constant([[1], [2, 3]]),
        tf.TensorArray(tf.float32, 3, element_shape=[2]),
        tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 1]), tf.constant([5, 3])),
    ]
    specs = [
        tf.SparseTensorSpec([3], tf.int32),
        tf.RaggedTensorSpec([2, None], tf.int32),
        tf.TensorArraySpec([2]),
        tf.IndexedSlicesSpec([5, 3], tf.float32, tf.int32, tf.int32, [2]),
    ]
    for value, spec in zip(values, specs, strict=True):
        assert type_spec_from_value(value) == spec
        assert spec.is_compatible_with(value)
        again = spec._from_components(spec._to_components(value))  # type: ignore[attr-defined]
        assert isinstance(again, spec.value_type)
        assert type_spec_from_value(again) == spec
        assert len(spec._component_specs) == len(spec._to_components(value))  # type: ignore[attr-defined]


def test_the_parts_of_ragged_tensors_are_told() -> None:
    assert tf.RaggedTensorSpec([2, None, 3], tf.int32, 1)._component_specs == [
        tf.TensorSpec([None, 3], tf.int32), tf.TensorSpec([3], tf.int64)
    ]  # fmt: skip
    assert tf.RaggedTensorSpec([2, None, None], tf.int32)._component_specs[1:] == [
        tf.TensorSpec([3], tf.int64), tf.TensorSpec([None], tf.int64)
    ]  # fmt: skip


def test_a_ragged_tensor_without_partitions_is_a_tensor() -> None:
    spec, value = tf.RaggedTensorSpec([2, 3], ragged_rank=0), tf.ones([2, 3])
    assert spec._component_specs == [tf.TensorSpec([2, 3])]
    assert spec._to_components(value) == [value]
    assert spec._from_components([value]) is value


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: tf.RaggedTensorSpec(), ValueError, r"Must specify ragged_rank or a shape with a known rank\."),
        (lambda: tf.RaggedTensorSpec([2, None], tf.int32, 2), ValueError, r"ragged_rank must be less than rank\."),
        (lambda: tf.RaggedTensorSpec([2, None], ragged_rank="a"), TypeError, "ragged_rank must be an int"),  # type: ignore[arg-type]
        (
            lambda: tf.SparseTensorSpec([4], tf.int64).most_specific_compatible_type(tf.SparseTensorSpec([2], tf.int32)),
            ValueError, r"Types are not compatible: tf\.int64 vs tf\.int32",
        ),
        (
            lambda: tf.SparseTensorSpec([4]).most_specific_compatible_type(tf.TensorSpec([2])), ValueError,
            "No TypeSpec is compatible with both",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(make: Callable[[], object], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make()


def test_common_specs_leave_open_what_differs() -> None:
    found = tf.SparseTensorSpec([4, 3], tf.int32).most_specific_compatible_type(tf.SparseTensorSpec([2, 3], tf.int32))
    assert found == tf.SparseTensorSpec([None, 3], tf.int32)


def test_shape_and_dtype_are_kept_once() -> None:
    for spec in (tf.TensorSpec([2, None]), tf.SparseTensorSpec([2, None]), tf.RaggedTensorSpec([2, None])):
        assert isinstance(spec, ShapedTypeSpec)
        assert (spec.shape.as_list(), spec.dtype) == ([2, None], tf.float32)
        assert not hasattr(spec, "__dict__")

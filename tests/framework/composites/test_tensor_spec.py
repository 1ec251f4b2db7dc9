"""A TensorSpec describes tensors, and knows which fit it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import weft as tf
from weft.framework.composites.tensor_spec import BoundedTensorSpec


def test_a_spec_prints_and_compares_by_what_it_says(graph: tf.Graph) -> None:
    spec = tf.TensorSpec([None, 3], tf.int32, "x")
    assert repr(spec) == "TensorSpec(shape=(?, 3), dtype=tf.int32, name='x')"
    assert (spec.shape.as_list(), spec.dtype, spec.name) == ([None, 3], tf.int32, "x")
    assert spec == tf.TensorSpec(tf.TensorShape([None, 3]), "int32", "x") == pickle.loads(pickle.dumps(spec))
    assert len({spec, tf.TensorSpec([None, 3], tf.int32, "x"), tf.TensorSpec([3])}) == 2
    assert spec != tf.TensorSpec([None, 3], tf.int32)
    assert tf.TensorSpec(None).dtype is tf.float32


def test_a_spec_knows_what_fits(graph: tf.Graph) -> None:
    spec = tf.TensorSpec([None, 3])
    assert spec.is_compatible_with(tf.zeros([2, 3]))
    assert spec.is_compatible_with(tf.TensorSpec(None))
    assert not spec.is_compatible_with(tf.zeros([2, 4]))
    assert not spec.is_compatible_with(tf.zeros([2, 3], tf.int32))


def test_a_spec_is_made_of_a_tensor_or_a_spec(graph: tf.Graph) -> None:
    spec = tf.TensorSpec.from_tensor(tf.placeholder(tf.float32, [2], name="p"))
    assert spec == tf.TensorSpec([2], tf.float32, "p")
    assert tf.TensorSpec.from_spec(spec, "q").name == "q"
    assert tf.TensorSpec.from_spec(spec) == spec
    with pytest.raises(ValueError, match=r"should be a tf\.Tensor"):
        tf.TensorSpec.from_tensor(3)  # type: ignore[arg-type]


def test_a_bounded_spec_is_made_of_a_spec_of_arrays() -> None:
    class OfArrays:
        shape, dtype, name = (2,), np.dtype(np.int64), "action"

    spec = BoundedTensorSpec.from_spec(OfArrays())  # type: ignore[arg-type]
    assert (spec.dtype, spec.name) == (tf.int64, "action")
    assert (int(spec.minimum), int(spec.maximum)) == (tf.int64.min, tf.int64.max)

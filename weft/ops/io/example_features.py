"""The forms that a feature of an Example is parsed into, as `tf.parse_example` takes it."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.framework.building.aliases import DTypeLike, ShapeLike, TensorLike


class FixedLenFeature(NamedTuple):
    """A dense tensor of a known shape in each example; required where there is no default.

    >>> tf.FixedLenFeature([2], tf.float32)
    FixedLenFeature(shape=[2], dtype=tf.float32, default_value=None)

    Args:
        shape: the shape in one example.
        dtype: float32, int64 or string.
        default_value: for examples that lack it, of the same shape, or a scalar for all elements; None where they must have it.
    """

    shape: ShapeLike
    dtype: DTypeLike
    default_value: TensorLike | None = None


class FixedLenSequenceFeature(NamedTuple):
    """A dense tensor of any number of elements of a shape; examples with fewer are padded.

    Args:
        shape: the shape of one element.
        dtype: float32, int64 or string.
        allow_missing: whether examples may lack it; it must be true.
        default_value: what shorter ones are padded with; 0 or an empty text when None.
    """

    shape: ShapeLike
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: TensorLike | None = None


class VarLenFeature(NamedTuple):
    """Any number of values in each example, as a SparseTensor.

    >>> tf.VarLenFeature(tf.int64)
    VarLenFeature(dtype=tf.int64)

    Args:
        dtype: float32, int64 or string.
    """

    dtype: DTypeLike


class SparseFeature(NamedTuple):
    """A SparseTensor whose positions and values are features of their own.

    Args:
        index_key: the int64 feature with the positions, or a list of them, one for each dimension.
        value_key: the feature with the values.
        dtype: the type of the values.
        size: the size of the dimension, or a list of them.
        already_sorted: whether the positions are in order in every example.
    """

    index_key: Any
    value_key: Any
    dtype: DTypeLike
    size: Any
    already_sorted: bool = False

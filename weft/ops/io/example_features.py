"""The forms that a feature of an Example is parsed into, as `tf.parse_example` takes it."""

from __future__ import annotations

from typing import Any, NamedTuple


class FixedLenFeature(NamedTuple):
    """A dense tensor of a known shape in each example; required where there is no default."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A dense tensor of any number of elements of a shape; examples with fewer are padded."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Any number of values in each example, as a SparseTensor."""

    dtype: Any


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
    dtype: Any
    size: Any
    already_sorted: bool = False

"""Numbers as features: as they are, and in buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import CategoricalColumn, DenseColumn, FeatureColumn, dense
from weft.models.feature_columns.column_checks import (
    Defaults,
    check_key,
    check_number,
    check_numeric,
    checked_default,
    checked_shape,
    normalized,
)
from weft.models.feature_columns.contracts import IdWeightPair, ParseSpec, StateManager, TransformedFeatures
from weft.ops.array.filling import one_hot
from weft.ops.array.ranges import range_of
from weft.ops.array.shape_ops import expand_dims, reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import tile
from weft.ops.array.transposing import transpose
from weft.ops.io.example_features import FixedLenFeature
from weft.ops.math.casting import cast
from weft.ops.math.counting import bucketize


class _NumericFields(NamedTuple):
    key: str
    shape: tuple[int, ...]
    default_value: Defaults | None
    dtype: DType
    normalizer_fn: Callable[[Tensor], Tensor] | None


class NumericColumn(DenseColumn, _NumericFields):
    """Numbers as they are; see `numeric_column`."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def parse_example_spec(self) -> ParseSpec:
        """A dense feature of the column's shape."""
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The feature."""
        return [self.key]

    @property
    def variable_shape(self) -> TensorShape:
        """The feature's shape."""
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The feature, normalized, as float32."""
        feature = transformation_cache.get(self.key, state_manager)
        if not isinstance(feature, Tensor):
            raise ValueError(
                f"The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: {self.key}"
            )
        if self.normalizer_fn is not None:
            feature = normalized(feature, self.normalizer_fn, self.key)
        check_numeric(feature, self.key)
        return cast(feature, dtypes.float32)

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The feature, normalized, as float32."""
        return dense(transformation_cache.get(self, state_manager))


def numeric_column(
    key: str,
    shape: int | Iterable[int] = (1,),
    default_value: object = None,
    dtype: DType = dtypes.float32,
    normalizer_fn: Callable[[Tensor], Tensor] | None = None,
) -> NumericColumn:
    """A column of numbers.

    Args:
        key: the feature's name.
        shape: the shape of one example's numbers.
        default_value: what examples without the feature have when they are parsed: a number for all elements, or values of
            `shape`. Parsing fails for them when None.
        dtype: the type as which the feature is parsed.
        normalizer_fn: a function of the batch's tensor, applied before anything else.

    Returns:
        A dense column.

    Raises:
        TypeError: an argument is of another type. ValueError: the shape or the type does not do.

    >>> age = tf.feature_column.numeric_column("age")
    >>> sess.run(tf.feature_column.input_layer({"age": [[3.0], [5.0]]}, [age]))
    array([[3.],
           [5.]], dtype=float32)
    """
    dims = checked_shape(shape, key)
    check_number(dtype, key)
    default = checked_default(dims, default_value, dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    check_key(key)
    return NumericColumn(key, dims, default, dtype, normalizer_fn)


class _BucketizedFields(NamedTuple):
    source_column: NumericColumn
    boundaries: tuple[float, ...]


class BucketizedColumn(DenseColumn, CategoricalColumn, _BucketizedFields):
    """Numbers by the bucket that they are in; see `bucketized_column`."""

    @property
    def name(self) -> str:
        """The source's name, marked."""
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the source."""
        return self.source_column.parse_example_spec

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The source."""
        return [self.source_column]

    @property
    def variable_shape(self) -> TensorShape:
        """One-hot vectors over the buckets, one for each number."""
        return TensorShape([*self.source_column.shape, len(self.boundaries) + 1])

    @property
    def num_buckets(self) -> int:
        """Buckets for each of the numbers."""
        return (len(self.boundaries) + 1) * self.source_column.shape[0]

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The number of each number's bucket, int32."""
        return bucketize(transformation_cache.get(self.source_column, state_manager), boundaries=list(self.boundaries))

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The buckets as one-hot vectors."""
        buckets = cast(dense(transformation_cache.get(self, state_manager)), dtypes.int64)
        return one_hot(buckets, depth=len(self.boundaries) + 1, on_value=1.0, off_value=0.0)

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The buckets as ids: those of the second number follow those of the first."""
        buckets = dense(transformation_cache.get(self, state_manager))
        return IdWeightPair(bucket_ids(buckets, self.source_column.shape[0], len(self.boundaries) + 1), None)


def bucket_ids(buckets: Tensor, width: int, count: int) -> SparseTensor:
    """The buckets of `width` numbers as ids: the `count` of the second number follow those of the first."""
    batch = shape(buckets)[0]
    rows = reshape(tile(expand_dims(range_of(0, batch), 1), [1, width]), (-1,))
    places = tile(range_of(0, width), [batch])
    ids = reshape(buckets, (-1,)) + count * places
    indices = cast(transpose(stack((rows, places))), dtypes.int64)
    return SparseTensor(indices, ids, cast(stack([batch, convert_to_tensor(width)]), dtypes.int64))


def bucketized_column(source_column: NumericColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """A column of buckets: those of numbers below the first boundary, from each boundary up to the next, from the last on.

    Args:
        source_column: a numeric column of rank 1.
        boundaries: the limits, rising.

    Raises:
        ValueError: the source is no such column, or the boundaries do not rise.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, list | tuple) or any(a >= b for a, b in pairwise(boundaries)):
        raise ValueError(f"boundaries must be a sorted list. Got {boundaries} for the column {source_column.key!r}.")
    return BucketizedColumn(source_column, tuple(boundaries))

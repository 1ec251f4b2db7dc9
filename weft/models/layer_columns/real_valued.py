"""Numbers as contrib.layers' columns: as they are, and in buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import CategoricalColumn, DenseColumn, FeatureColumn, dense
from weft.models.feature_columns.contracts import IdWeightPair, ParseSpec, StateManager, TransformedFeatures
from weft.models.feature_columns.numeric import bucket_ids
from weft.models.layer_columns.column import LayerColumn, Lookup, printed_as, without
from weft.ops.array.filling import one_hot
from weft.ops.array.shape_ops import reshape
from weft.ops.io.example_features import FixedLenFeature
from weft.ops.math.casting import cast
from weft.ops.math.counting import bucketize


class _RealValuedFields(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple[float, ...] | None
    dtype: DType
    normalizer: Callable[[Tensor], Tensor] | None


@printed_as("_RealValuedColumn")
class RealValuedColumn(LayerColumn, DenseColumn, _RealValuedFields):
    """Numbers as they are; see `real_valued_column`."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.column_name

    @property
    def key(self) -> str:
        """The fields without the function."""
        return without(self, self._fields, "normalizer")

    @property
    def normalizer_fn(self) -> Callable[[Tensor], Tensor] | None:
        """The function that is applied first."""
        return self.normalizer

    @property
    def parse_example_spec(self) -> ParseSpec:
        """A dense feature of the column's size."""
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The feature."""
        return [self.column_name]

    @property
    def variable_shape(self) -> TensorShape:
        """As many numbers as the column has."""
        return TensorShape([self.dimension])

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The feature, normalized, as float32."""
        feature = dense(transformation_cache.get(self.column_name, state_manager))
        return cast(feature if self.normalizer is None else self.normalizer(feature), dtypes.float32)

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The feature, normalized, as float32."""
        return dense(transformation_cache.get(self, state_manager))


def real_valued_column(
    column_name: str,
    dimension: int = 1,
    default_value: float | list[float] | None = None,
    dtype: DType = dtypes.float32,
    normalizer: Callable[[Tensor], Tensor] | None = None,
) -> RealValuedColumn:
    """A column of numbers.

    Args:
        column_name: the feature's name.
        dimension: how many numbers an example has.
        default_value: what examples without the feature have when they are parsed: one for all, or a list.
        dtype: the type as which the feature is parsed.
        normalizer: a function of the batch's tensor, applied before anything else.

    Returns:
        The column.

    Raises:
        TypeError: an argument is of another type. ValueError: the dimension, the type or the list's length does not do.
    """
    if not isinstance(dimension, int):
        hint = " Use the _real_valued_var_len_column for variable length features." if dimension is None else " "
        raise TypeError(f"dimension must be an integer.{hint}dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    default = None if default_value is None else _default(default_value, dimension, dtype, column_name)
    return RealValuedColumn(column_name, dimension, default, dtype, normalizer)


def _default(value: float | list[float], dimension: int, dtype: DType, name: str) -> tuple[float, ...]:
    values = value if isinstance(value, list) else [value] * dimension
    if len(values) != dimension:
        raise ValueError(
            "The length of default_value must be equal to dimension. "
            f"default_value: {value}, dimension: {dimension}, column_name: {name}"
        )
    if all(isinstance(each, int) for each in values):
        return tuple(values) if dtype.is_integer else tuple(float(each) for each in values)
    if dtype.is_floating and all(isinstance(each, int | float) for each in values):
        return tuple(float(each) for each in values)
    raise TypeError(f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, column_name: {name}")


class _BucketizedFields(NamedTuple):
    source_column: RealValuedColumn
    boundaries: tuple[float, ...]


@printed_as("_BucketizedColumn")
class BucketizedColumn(LayerColumn, DenseColumn, CategoricalColumn, _BucketizedFields):
    """Numbers by the bucket that they are in; see `bucketized_column`."""

    @property
    def name(self) -> str:
        """The source's name, marked."""
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self) -> int:
        """The number of buckets of one number."""
        return len(self.boundaries) + 1

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
        """The one-hot vectors of all numbers, one after the other."""
        return TensorShape([self.num_buckets])

    @property
    def num_buckets(self) -> int:
        """Buckets for each of the numbers."""
        return self.length * self.source_column.dimension

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The number of each number's bucket, int32."""
        numbers = transformation_cache.get(self.source_column, state_manager)
        return bucketize(numbers, boundaries=list(self.boundaries), name="bucketize")

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The buckets as one-hot vectors."""
        buckets = cast(dense(transformation_cache.get(self, state_manager)), dtypes.int64)
        return reshape(one_hot(buckets, self.length, 1.0, 0.0, name="one_hot"), [-1, self.num_buckets], name="reshape")

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The buckets as ids: those of the second number follow those of the first."""
        buckets = dense(transformation_cache.get(self, state_manager))
        return IdWeightPair(bucket_ids(buckets, self.source_column.dimension, self.length), None)

    def wide_lookup(self, features: TransformedFeatures, state_manager: StateManager) -> Lookup:
        """The buckets as ids."""
        return Lookup(self.get_sparse_tensors(features, state_manager).id_tensor, None, self.num_buckets, "sum")


def bucketized_column(source_column: RealValuedColumn, boundaries: Sequence[float]) -> BucketizedColumn:
    """A column of buckets, of a column of numbers.

    Args:
        source_column: a `real_valued_column`.
        boundaries: rising numbers; each bucket begins with one of them, and one more lies below the first. Those that come
            twice count once.

    Raises:
        TypeError: the source is no such column.
        ValueError: there are no boundaries, or they fall.
    """
    if not isinstance(source_column, RealValuedColumn):
        raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
    if not isinstance(boundaries, list | tuple) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return BucketizedColumn(source_column, tuple(sorted(set(boundaries))))

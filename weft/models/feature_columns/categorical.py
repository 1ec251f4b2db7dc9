"""Ids out of features that have no vocabulary: hashed strings, and integers as they are."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.models.feature_columns.column import CategoricalColumn, FeatureColumn, sparse
from weft.models.feature_columns.column_checks import check_key, check_same_kind, check_string_or_int, whole_number
from weft.models.feature_columns.contracts import IdWeightPair, ParseSpec, StateManager, TransformedFeatures
from weft.models.feature_columns.transformation_cache import to_sparse
from weft.ops.array.filling import fill
from weft.ops.array.identity import identity
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import shape
from weft.ops.debugging.checks import assert_greater_equal, assert_less
from weft.ops.io.example_features import VarLenFeature
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal, less, logical_or
from weft.ops.strings.elementwise import as_string
from weft.ops.strings.hash_buckets import string_to_hash_bucket_fast


class KeyedColumn(CategoricalColumn):
    """Ids of one feature, which strings or integers of the column's type become."""

    @property
    @abstractmethod
    def feature_key(self) -> str:
        """The feature's name."""

    @property
    @abstractmethod
    def feature_dtype(self) -> DType:
        """The type as which the feature is parsed."""

    @abstractmethod
    def ids_of(self, feature: SparseTensor, state_manager: StateManager) -> SparseTensor:
        """The ids of the feature's elements."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.feature_key

    @property
    def parse_example_spec(self) -> ParseSpec:
        """A feature of any length."""
        return {self.feature_key: VarLenFeature(self.feature_dtype)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The feature."""
        return [self.feature_key]

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> SparseTensor:
        """The ids of the feature's elements."""
        return self.ids_of(to_sparse(transformation_cache.get(self.feature_key, state_manager)), state_manager)

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The ids, without weights."""
        return IdWeightPair(sparse(transformation_cache.get(self, state_manager)), None)


class _HashedFields(NamedTuple):
    key: str
    hash_bucket_size: int
    dtype: DType


class HashedCategoricalColumn(KeyedColumn, _HashedFields):
    """Ids by hash; see `categorical_column_with_hash_bucket`."""

    @property
    def feature_key(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def feature_dtype(self) -> DType:
        """The type as which the feature is parsed."""
        return self.dtype

    @property
    def num_buckets(self) -> int:
        """The number of buckets."""
        return self.hash_bucket_size

    def ids_of(self, feature: SparseTensor, state_manager: StateManager) -> SparseTensor:
        """The buckets of the feature's elements."""
        check_string_or_int(feature.dtype, f"column_name: {self.key} input_tensor")
        check_same_kind(self.key, self.dtype, feature.dtype)
        texts = feature.values if self.dtype == dtypes.string else as_string(feature.values)
        ids = string_to_hash_bucket_fast(texts, self.hash_bucket_size, name="lookup")
        return SparseTensor(feature.indices, ids, feature.dense_shape)


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DType = dtypes.string
) -> HashedCategoricalColumn:
    """A column of ids by FarmHash64 of strings, or of integers written as text, modulo the number of buckets.

    Args:
        key: the feature's name.
        hash_bucket_size: the number of buckets.
        dtype: string, or a type of integers.

    Returns:
        The column.

    Raises:
        ValueError: there is no bucket, or a part of one, or the type does not do.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    check_string_or_int(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, whole_number(hash_bucket_size, "hash_bucket_size", key), dtype)


class _IdentityFields(NamedTuple):
    key: str
    number_buckets: int
    default_value: int | None


class IdentityCategoricalColumn(KeyedColumn, _IdentityFields):
    """Integers that are ids; see `categorical_column_with_identity`."""

    @property
    def feature_key(self) -> str:
        """The feature's name."""
        return self.key

    @property
    def feature_dtype(self) -> DType:
        """The type as which the feature is parsed."""
        return dtypes.int64

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.number_buckets

    def ids_of(self, feature: SparseTensor, state_manager: StateManager) -> SparseTensor:
        """The feature's elements as int64, those out of range replaced or refused."""
        if not feature.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {feature.dtype}")
        values = cast(feature.values, dtypes.int64, name="values")
        limit = cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            ids = self._checked(values, limit, zero)
        else:
            ids = self._replaced(values, limit, zero, self.default_value)
        return SparseTensor(feature.indices, ids, feature.dense_shape)

    def _checked(self, values: Tensor, limit: Tensor, zero: Tensor) -> Tensor:
        too_large = f'Bucket index for categorical column "{self.name}" exceeds number of buckets'
        negative = f'Negative bucket index for categorical column "{self.name}"'
        checks = [
            assert_less(values, limit, data=(values, limit), message=too_large, name="assert_less_than_num_buckets"),
            assert_greater_equal(values, zero, data=(values,), message=negative, name="assert_greater_or_equal_0"),
        ]
        with get_default_graph().control_dependencies(checks):
            return identity(values)

    def _replaced(self, values: Tensor, limit: Tensor, zero: Tensor, default: int) -> Tensor:
        is_out = logical_or(less(values, zero), greater_equal(values, limit), name="out_of_range")
        return where(is_out, fill(shape(values), cast(default, dtypes.int64), name="default_values"), values)


def categorical_column_with_identity(key: str, num_buckets: int, default_value: int | None = None) -> IdentityCategoricalColumn:
    """A column of integers that are ids already, from zero to `num_buckets - 1`.

    Args:
        key: the feature's name.
        num_buckets: how many ids there are.
        default_value: the id of integers out of range; a step that meets one fails when None.

    Raises:
        ValueError: there is no id, or a part of one, or the default is none.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)
    return IdentityCategoricalColumn(key, whole_number(num_buckets, "num_buckets", key), default_value)

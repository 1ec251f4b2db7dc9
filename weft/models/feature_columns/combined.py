"""Categorical columns made of others: with weights, and of crosses of several features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from weft.framework.composites.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.models.feature_columns.categorical import HashedCategoricalColumn
from weft.models.feature_columns.column import CategoricalColumn, FeatureColumn, is_categorical, is_dense, sparse
from weft.models.feature_columns.column_checks import whole_number
from weft.models.feature_columns.contracts import FeatureTensor, IdWeightPair, ParseSpec, StateManager, TransformedFeatures
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.feature_columns.transformation_cache import to_sparse
from weft.ops.io.example_features import VarLenFeature
from weft.ops.math.casting import cast
from weft.ops.strings.cross import sparse_cross_hashed
from weft.platform.hints.argument_checks import check_arguments


class _WeightedFields(NamedTuple):
    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType


class WeightedCategoricalColumn(CategoricalColumn, _WeightedFields):
    """Ids with weights out of another feature; see `weighted_categorical_column`."""

    @property
    def name(self) -> str:
        """The names of both features."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """Both features."""
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}.")
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The column of the ids, and the feature of the weights."""
        return [self.categorical_column, self.weight_feature_key]

    @property
    def num_buckets(self) -> int:
        """Those of the ids."""
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> FeatureTensor:
        """The ids and their weights."""
        given = transformation_cache.get(self.weight_feature_key, state_manager)
        weights = convert_to_tensor_or_sparse_tensor(given)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        found = to_sparse(weights, ignored=0.0)
        if not found.dtype.is_floating:
            found = found.with_values(cast(found.values, dtypes.float32))
        return sparse(transformation_cache.get(self.categorical_column, state_manager)), found

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The ids and their weights."""
        both = transformation_cache.get(self, state_manager)
        assert isinstance(both, tuple)
        return IdWeightPair(sparse(both[0]), sparse(both[1]))


def weighted_categorical_column(
    categorical_column: CategoricalColumn, weight_feature_key: str, dtype: DType = dtypes.float32
) -> WeightedCategoricalColumn:
    """A column of ids with weights: the two features have the same shape, element by element.

    Args:
        categorical_column: the column of the ids.
        weight_feature_key: the name of the feature with the weights.
        dtype: the type of the weights, of numbers.

    Raises:
        ValueError: the type is not one of numbers.
    """
    check_arguments(weighted_categorical_column, categorical_column=categorical_column, weight_feature_key=weight_feature_key)
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


class _CrossedFields(NamedTuple):
    keys: tuple[str | CategoricalColumn, ...]
    hash_bucket_size: int
    hash_key: int | None


class CrossedColumn(CategoricalColumn, _CrossedFields):
    """Ids of combinations of several features; see `crossed_column`."""

    @property
    def name(self) -> str:
        """The names of all features that are crossed, in order."""
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in _leaves(self)))

    @property
    def parse_example_spec(self) -> ParseSpec:
        """All features that are crossed."""
        spec: ParseSpec = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_example_spec)
        return spec

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """What is crossed."""
        return list(self.keys)

    @property
    def num_buckets(self) -> int:
        """The number of buckets."""
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> SparseTensor:
        """The buckets of all combinations of each example's elements."""
        crossed: list[Tensor | SparseTensor] = []
        for key in _leaves(self):
            if isinstance(key, str):
                feature = transformation_cache.get(key, state_manager)
                assert not isinstance(feature, tuple)
                crossed.append(feature)
                continue
            pair = key.get_sparse_tensors(transformation_cache, state_manager)
            if pair.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                    f"Given column: {key.name}"
                )
            crossed.append(pair.id_tensor)
        return sparse_cross_hashed(crossed, self.hash_bucket_size, self.hash_key)

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The buckets, without weights."""
        return IdWeightPair(sparse(transformation_cache.get(self, state_manager)), None)


def _leaves(crossed: CrossedColumn) -> Iterator[str | CategoricalColumn]:
    """What is crossed, where crosses of crosses are all one."""
    for key in crossed.keys:
        if isinstance(key, CrossedColumn):
            yield from _leaves(key)
        else:
            yield key


def _crossable(key: object) -> str:
    """The column to cross instead of a dense one."""
    if isinstance(key, NumericColumn):
        return f". Numbers are crossed by their buckets: tf.feature_column.bucketized_column({key.name}, [...])"
    if is_dense(key):
        return ". Cross the categorical column that it is made of"
    return ""


def crossed_column(
    keys: Sequence[str | CategoricalColumn], hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """A column of the combinations of several features, hashed.

    Args:
        keys: names of string features, and categorical columns but those that are hashed themselves.
        hash_bucket_size: the number of buckets.
        hash_key: the number that the hash begins with.

    Raises:
        ValueError: there are not two keys, one of them cannot be crossed, or there is no bucket.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not (isinstance(key, str) or is_categorical(key)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except HashedCategoricalColumn. "
                f"Given: {key}{_crossable(key)}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will increase "
                f"probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    size = whole_number(hash_bucket_size, "hash_bucket_size", " x ".join(str(getattr(key, "name", key)) for key in keys))
    return CrossedColumn(tuple(keys), size, hash_key)

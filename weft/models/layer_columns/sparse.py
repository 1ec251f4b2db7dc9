"""Ids as contrib.layers' columns: integers, hashes, keys, vocabularies, and ids with weights."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from weft.framework.composites.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.models.feature_columns.column import CategoricalColumn, FeatureColumn, dense, sparse
from weft.models.feature_columns.contracts import FeatureTensor, IdWeightPair, ParseSpec, StateManager, TransformedFeatures
from weft.models.feature_columns.transformation_cache import to_sparse
from weft.models.layer_columns.column import LayerColumn, Lookup, printed_as
from weft.ops.io.example_features import VarLenFeature
from weft.ops.lookup.vocabularies import index_table_from_file, index_table_from_tensor
from weft.ops.math.casting import cast
from weft.ops.math.division import floor_mod
from weft.ops.sparse.joining import sparse_concat
from weft.ops.strings.elementwise import as_string
from weft.ops.strings.hash_buckets import string_to_hash_bucket_fast, string_to_hash_bucket_strong
from weft.platform.logs import tf_logging

HashKeys: TypeAlias = "list[list[int]] | None"


@printed_as("_SparseIdLookupConfig")
class SparseIdLookupConfig(NamedTuple):
    """Where a column's vocabulary is."""

    vocabulary_file: str | None = None
    keys: tuple[str | int, ...] | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class _SparseFields(NamedTuple):
    column_name: str
    is_integerized: bool
    bucket_size: int | None
    lookup_config: SparseIdLookupConfig | None
    combiner: str
    dtype: DType


@printed_as("_SparseColumn")
class SparseColumn(LayerColumn, CategoricalColumn, _SparseFields):
    """Ids of one feature; its kinds say how strings or integers become them."""

    @property
    def name(self) -> str:
        """The feature's name."""
        return self.column_name

    @property
    def parse_example_spec(self) -> ParseSpec:
        """A feature of any length."""
        return {self.column_name: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The feature."""
        return [self.column_name]

    @property
    def length(self) -> int:
        """The number of ids."""
        if self.bucket_size is not None:
            return self.bucket_size
        assert self.lookup_config is not None
        assert self.lookup_config.vocab_size is not None
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.length

    def ids_of(self, feature: SparseTensor) -> SparseTensor:
        """The ids of the feature's elements."""
        raise NotImplementedError

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> SparseTensor:
        """The ids of the feature's elements."""
        return self.ids_of(to_sparse(transformation_cache.get(self.column_name, state_manager)))

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The ids, without weights."""
        return IdWeightPair(sparse(transformation_cache.get(self, state_manager)), None)

    def wide_lookup(self, features: TransformedFeatures, state_manager: StateManager) -> Lookup:
        """The ids."""
        return Lookup(sparse(features.get(self, state_manager)), None, self.length, self.combiner)

    def is_compatible(self, other_column: SparseColumn) -> bool:
        """Whether the two columns' ids may mean the same."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        alike = self.length == other_column.length and (
            self.dtype == other_column.dtype or (self.dtype.is_integer and other_column.dtype.is_integer)
        )
        if alike:
            tf_logging.warn("Column %s and %s may not have the same vocabulary.", self.name, other_column.name)
        return alike


@printed_as("_SparseColumnIntegerized")
class IntegerizedColumn(SparseColumn):
    """Integers modulo the number of ids."""

    def ids_of(self, feature: SparseTensor) -> SparseTensor:
        """The remainders."""
        return feature.with_values(floor_mod(feature.values, self.bucket_size, name="mod"))


@printed_as("_SparseColumnHashed")
class HashedColumn(SparseColumn):
    """Ids by hash, or by several."""

    hash_keys: HashKeys = None

    def ids_of(self, feature: SparseTensor) -> SparseTensor:
        """The buckets; those by several keys side by side."""
        texts = as_string(feature.values) if self.dtype.is_integer else feature.values
        if not self.hash_keys:
            return feature.with_values(string_to_hash_bucket_fast(texts, self.length, name="lookup"))
        hashed = [feature.with_values(string_to_hash_bucket_strong(texts, self.length, key)) for key in self.hash_keys]
        return sparse_concat(1, hashed, name="lookup")


@printed_as("_SparseColumnKeys")
class KeysColumn(SparseColumn):
    """Ids by the entries of a list."""

    def ids_of(self, feature: SparseTensor) -> SparseTensor:
        """The positions in the list."""
        assert self.lookup_config is not None
        assert self.lookup_config.keys is not None
        table = index_table_from_tensor(
            self.lookup_config.keys, default_value=self.lookup_config.default_value, dtype=self.dtype, name="lookup"
        )
        return feature.with_values(dense(table.lookup(feature.values)))


@printed_as("_SparseColumnVocabulary")
class VocabularyColumn(SparseColumn):
    """Ids by the lines of a file; integers are looked up as text."""

    def ids_of(self, feature: SparseTensor) -> SparseTensor:
        """The numbers of the lines."""
        config = self.lookup_config
        assert config is not None
        table = index_table_from_file(
            config.vocabulary_file or "", config.num_oov_buckets, config.vocab_size, config.default_value,
            name=f"{self.name}_lookup",
        )  # fmt: skip
        texts = as_string(feature.values) if self.dtype.is_integer else feature.values
        return feature.with_values(dense(table.lookup(texts)))


def _check(name: str, size: int | None, dtype: DType) -> None:
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {name}")
    if size is not None and size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {size}, column_name: {name}")


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DType = dtypes.int64
) -> IntegerizedColumn:
    """A column of ids that are integers modulo `bucket_size`.

    Args:
        column_name: the feature's name.
        bucket_size: the number of ids.
        combiner: how the weights of an example's ids become one in a linear model: "sum", "mean" or "sqrtn".
        dtype: a type of integers.

    Raises:
        ValueError: there is no number of ids, or the dtype is none of integers.
    """
    if bucket_size is None:
        raise ValueError(f"bucket_size must be set if is_integerized is True. column_name: {column_name}")
    if not dtype.is_integer:
        raise ValueError(f"dtype must be an integer if is_integerized is True. dtype: {dtype}, column_name: {column_name}.")
    _check(column_name, bucket_size, dtype)
    return IntegerizedColumn(column_name, True, bucket_size, None, combiner, dtype)


def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: DType = dtypes.string,
    hash_keys: HashKeys = None,
) -> HashedColumn:
    """A column of ids by FarmHash64 modulo the number of buckets, or by the strong hash with each of `hash_keys`.

    Args:
        column_name: the feature's name.
        hash_bucket_size: the number of buckets, 2 at least.
        combiner: how the weights of an example's ids become one in a linear model: "sum", "mean" or "sqrtn".
        dtype: string, or a type of integers, which are hashed as text.
        hash_keys: pairs of integers, the keys of hashes that each give an id; None for one id by FarmHash64.

    Raises:
        ValueError: `hash_keys` are no list of pairs, or there is no number of buckets, or the name or dtype does not do.
    """
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        pairs = [key for key in hash_keys if isinstance(key, list) and len(key) == 2 and all(isinstance(k, int) for k in key)]
        if len(pairs) != len(hash_keys):
            raise ValueError("Each element of hash_keys must be a pair of integers.")
    if hash_bucket_size is None:
        raise ValueError(f"one of bucket_size or lookup_config must be set. column_name: {column_name}")
    _check(column_name, hash_bucket_size, dtype)
    column = HashedColumn(column_name, False, hash_bucket_size, None, combiner, dtype)
    column.hash_keys = hash_keys
    return column


def sparse_column_with_keys(
    column_name: str,
    keys: tuple[str | int, ...],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DType = dtypes.string,
) -> KeysColumn:
    """A column of ids by the entries of a list.

    Args:
        column_name: the feature's name.
        keys: strings or integers; the first has id 0.
        default_value: the id of what is not among them; -1 for no id.
        combiner: how the weights of an example's ids become one in a linear model: "sum", "mean" or "sqrtn".
        dtype: string, or a type of integers, that of the feature.
    """
    _check(column_name, None, dtype)
    entries = tuple(keys)
    config = SparseIdLookupConfig(keys=entries, vocab_size=len(entries), default_value=default_value)
    return KeysColumn(column_name, False, None, config, combiner, dtype)


def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: DType = dtypes.string,
) -> VocabularyColumn:
    """A column of ids by the first lines of a file, and buckets for what is not among them.

    Args:
        column_name: the feature's name.
        vocabulary_file: the file, one entry a line.
        num_oov_buckets: how many ids there are, behind those of the file, for what is not in it; chosen by hash.
        vocab_size: how many lines to use; needed.
        default_value: without such buckets, the id of what is not in the file; -1 for no id.
        combiner: how the weights of an example's ids become one in a linear model: "sum", "mean" or "sqrtn".
        dtype: string, or a type of integers.

    Raises:
        ValueError: there is no `vocab_size`.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    _check(column_name, None, dtype)
    config = SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return VocabularyColumn(column_name, False, None, config, combiner, dtype)


class _WeightedFields(NamedTuple):
    sparse_id_column: SparseColumn
    weight_column_name: str
    dtype: DType


@printed_as("_WeightedSparseColumn")
class WeightedSparseColumn(LayerColumn, CategoricalColumn, _WeightedFields):
    """Ids with weights out of another feature; see `weighted_sparse_column`."""

    @property
    def name(self) -> str:
        """The names of both features."""
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """Both features."""
        return {**self.sparse_id_column.parse_example_spec, self.weight_column_name: VarLenFeature(self.dtype)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The column of the ids, and the feature of the weights."""
        return [self.sparse_id_column, self.weight_column_name]

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.sparse_id_column.length

    @property
    def lookup_config(self) -> SparseIdLookupConfig | None:
        """That of the ids."""
        return self.sparse_id_column.lookup_config

    @property
    def num_buckets(self) -> int:
        """The number of ids."""
        return self.length

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> FeatureTensor:
        """The ids and their weights."""
        ids = sparse(transformation_cache.get(self.sparse_id_column, state_manager))
        given = convert_to_tensor_or_sparse_tensor(transformation_cache.get(self.weight_column_name, state_manager))
        weights = to_sparse(given, ignored=0.0)
        if not self.dtype.is_floating:
            weights = weights.with_values(cast(weights.values, dtypes.float32))
        return ids, weights

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The ids and their weights."""
        both = transformation_cache.get(self, state_manager)
        assert isinstance(both, tuple)
        return IdWeightPair(sparse(both[0]), sparse(both[1]))

    def wide_lookup(self, features: TransformedFeatures, state_manager: StateManager) -> Lookup:
        """The ids and their weights."""
        ids, weights = self.get_sparse_tensors(features, state_manager)
        return Lookup(ids, weights, self.length, self.sparse_id_column.combiner)

    def is_compatible(self, other_column: SparseColumn | WeightedSparseColumn) -> bool:
        """Whether the two columns' ids may mean the same."""
        if isinstance(other_column, WeightedSparseColumn):
            return self.sparse_id_column.is_compatible(other_column.sparse_id_column)
        return self.sparse_id_column.is_compatible(other_column)


def weighted_sparse_column(
    sparse_id_column: SparseColumn, weight_column_name: str, dtype: DType = dtypes.float32
) -> WeightedSparseColumn:
    """A column of ids with weights: the two features have the same shape, element by element.

    Args:
        sparse_id_column: the column of ids.
        weight_column_name: the name of the feature with the weights.
        dtype: the dtype of that feature, of integers or floats.

    Raises:
        ValueError: the dtype is another.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)

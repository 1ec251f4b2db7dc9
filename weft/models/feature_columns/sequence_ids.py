"""Ids that come in order: a categorical column whose second dimension is time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.models.feature_columns.categorical import categorical_column_with_hash_bucket, categorical_column_with_identity
from weft.models.feature_columns.column import CategoricalColumn, FeatureColumn
from weft.models.feature_columns.contracts import FeatureTensor, IdWeightPair, ParseSpec, StateManager, TransformedFeatures
from weft.models.feature_columns.vocabulary import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from weft.ops.array.filling import ones_like, zeros
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import shape
from weft.ops.math.casting import cast
from weft.ops.math.reduce_functions import reduce_prod
from weft.ops.math.segment import segment_max
from weft.ops.math.unary import ceil
from weft.ops.sparse.layout import sparse_reshape


class _SequenceFields(NamedTuple):
    categorical_column: CategoricalColumn


class SequenceCategoricalColumn(CategoricalColumn, _SequenceFields):
    """Another column's ids, of which those of one example are in order."""

    @property
    def name(self) -> str:
        """The name of the column of ids."""
        return self.categorical_column.name

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the ids."""
        return self.categorical_column.parse_example_spec

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The column of the ids."""
        return [self.categorical_column]

    @property
    def num_buckets(self) -> int:
        """Those of the ids."""
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> FeatureTensor:
        """The ids."""
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The ids as `[batch, time, ...]`: what is behind time is one dimension."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        sizes = shape(ids)
        dims = [sizes[0], sizes[1], reduce_prod(sizes[2:])]
        return IdWeightPair(sparse_reshape(ids, dims), None if weights is None else sparse_reshape(weights, dims))


def sequence_length(ids: SparseTensor, elements_per_step: int = 1) -> Tensor:
    """How many steps each example has, `[batch]` int64: the last one with an element counts."""
    with get_default_graph().name_scope("sequence_length") as scope:
        rows, places = ids.indices[:, 0], ids.indices[:, 1]
        places += ones_like(places)
        longest = segment_max(places, rows)
        lengths = cast(ceil(longest / elements_per_step), dtypes.int64)
        # Examples without elements at the end of the batch are in no segment.
        missing = shape(ids)[:1] - shape(lengths)[:1]
        return concat([lengths, zeros(missing, dtype=lengths.dtype)], axis=0, name=scope)


def check_no_sequence(maker: str, name: str, ids: CategoricalColumn) -> None:
    """Raise ValueError where a column of sequences is used for one vector per example."""
    if isinstance(ids, SequenceCategoricalColumn):
        raise ValueError(
            f"In {maker}: {name}. categorical_column must not be of type _SequenceCategoricalColumn. Suggested fix A: If you "
            "wish to use DenseFeatures, use a non-sequence categorical_column_with_*. Suggested fix B: If you wish to create "
            "sequence input, use SequenceFeatures instead of DenseFeatures. "
            f"Given (type {type(ids)}): {ids}"
        )


def check_sequence(maker: str, name: str, ids: CategoricalColumn) -> None:
    """Raise ValueError where a column that is none of sequences is used for them."""
    if not isinstance(ids, SequenceCategoricalColumn):
        raise ValueError(
            f"In {maker}: {name}. categorical_column must be of type SequenceCategoricalColumn to use SequenceFeatures. "
            "Suggested fix: Use one of sequence_categorical_column_with_*. "
            f"Given (type {type(ids)}): {ids}"
        )


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """A column of sequences of integers that are ids already, from zero to `num_buckets - 1`.

    Args: those of `tf.feature_column.categorical_column_with_identity`.
    """
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DType = dtypes.string
) -> SequenceCategoricalColumn:
    """A column of sequences of ids: FarmHash64 of strings, or of integers written as text, modulo the number of buckets.

    Args: those of `tf.feature_column.categorical_column_with_hash_bucket`.
    """
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: str,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DType = dtypes.string,
) -> SequenceCategoricalColumn:
    """A column of sequences of ids by the lines of a text file.

    Args: those of `tf.feature_column.categorical_column_with_vocabulary_file`.
    """
    ids = categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype)
    return SequenceCategoricalColumn(ids)


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[str | bytes | int],
    dtype: DType | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """A column of sequences of ids by the entries of a list.

    Args: those of `tf.feature_column.categorical_column_with_vocabulary_list`.
    """
    ids = categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    return SequenceCategoricalColumn(ids)

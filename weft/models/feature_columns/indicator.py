"""IndicatorColumn: ids as vectors that count them."""

from __future__ import annotations

from typing import NamedTuple

from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    SequenceDenseColumn,
    check_categorical,
    dense,
)
from weft.models.feature_columns.contracts import ParseSpec, StateManager, TensorSequenceLengthPair, TransformedFeatures
from weft.models.feature_columns.sequence_ids import check_no_sequence, check_sequence, sequence_length
from weft.ops.array.filling import one_hot
from weft.ops.array.gather_scatter import scatter_nd
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.sparse.joining import sparse_slice
from weft.ops.sparse.tensors import sparse_merge, sparse_tensor_to_dense


class _IndicatorFields(NamedTuple):
    categorical_column: CategoricalColumn


class IndicatorColumn(DenseColumn, SequenceDenseColumn, _IndicatorFields):
    """Ids as vectors that count them; see `indicator_column`."""

    @property
    def name(self) -> str:
        """The name of the ids' column, marked."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the ids."""
        return self.categorical_column.parse_example_spec

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The column of the ids."""
        return [self.categorical_column]

    @property
    def variable_shape(self) -> TensorShape:
        """One row, as wide as there are ids."""
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """How often each id is among an example's, or the sum of its weights."""
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        depth = self.categorical_column.num_buckets
        if weights is not None:
            merged = sparse_merge(ids, weights, depth)
            # Ids of -1 stand outside of the dense shape, and go.
            merged = sparse_slice(merged, [0, 0], merged.dense_shape)
            return scatter_nd(merged.indices, merged.values, merged.dense_shape)
        rows = sparse_tensor_to_dense(ids, default_value=-1)
        return reduce_sum(one_hot(rows, depth=depth, on_value=1.0, off_value=0.0), axis=[-2])

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The vectors, one for each example."""
        check_no_sequence("indicator_column", self.name, self.categorical_column)
        return dense(transformation_cache.get(self, state_manager))

    def get_sequence_dense_tensor(
        self, transformation_cache: TransformedFeatures, state_manager: StateManager
    ) -> TensorSequenceLengthPair:
        """The vectors, one for each step of an example's sequence."""
        check_sequence("indicator_column", self.name, self.categorical_column)
        vectors = dense(transformation_cache.get(self, state_manager))
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return TensorSequenceLengthPair(vectors, sequence_length(ids))


def indicator_column(categorical_column: CategoricalColumn) -> IndicatorColumn:
    """A dense column that counts the ids of a categorical one: for each example a vector over all ids.

    Args:
        categorical_column: a column of `n` ids; of a weighted one the weights are summed up in place of the counts.

    Returns:
        A column that is `[batch, n]` float32.

    Raises:
        ValueError: the column is no categorical one.
    """
    check_categorical("indicator_column", categorical_column)
    return IndicatorColumn(categorical_column)

"""Feature columns as the features of trees: each is one vector of bucket numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from weft.estimators.aliases import Features
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.column import (
    FeatureColumn,
    FeatureColumns,
    dense,
    is_categorical,
    is_dense,
)
from weft.models.feature_columns.indicator import IndicatorColumn
from weft.models.feature_columns.numeric import BucketizedColumn
from weft.models.feature_columns.scope_state import ScopeStateManager
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.ops.array.shape_ops import squeeze
from weft.ops.array.stacking import unstack
from weft.ops.math.casting import cast
from weft.ops.math.comparison import minimum
from weft.ops.trees.quantile_nodes import boosted_trees_bucketize


class FeatureGroup(NamedTuple):
    """Features, by their numbers, that have as many buckets."""

    num_buckets: int
    feature_ids: list[int]


class TreeColumns:
    """The columns of a boosted model, in order of their names, which numbers their features.

    Args:
        feature_columns: bucketized, indicator and dense columns.

    Raises:
        ValueError: a column is none of these.
    """

    def __init__(self, feature_columns: FeatureColumns) -> None:
        given: list[Any] = list(feature_columns)
        self.columns: tuple[FeatureColumn, ...] = tuple(sorted(given, key=lambda column: column.name))
        self._counts = [_feature_count(column) for column in self.columns]

    @property
    def num_features(self) -> int:
        """How many features the columns have."""
        return sum(self._counts)

    @property
    def numeric(self) -> TreeColumns:
        """The columns of numbers, which quantiles cut into buckets."""
        return TreeColumns(column for column in self.columns if _is_numeric(column))

    @property
    def names(self) -> list[str]:
        """The column's name for each feature: of an indicator that of its categories."""
        found = []
        for column, count in zip(self.columns, self._counts, strict=True):
            found += [column.categorical_column.name if isinstance(column, IndicatorColumn) else column.name] * count
        return found

    def values(self, features: Features) -> dict[FeatureColumn, list[Tensor]]:
        """What each column makes of a batch, a vector for each of its features: numbers of buckets, or numbers.

        Args:
            features: the batch, by name.
        """
        cache, state = FeatureTransformationCache(features), ScopeStateManager(None, trainable=False)
        return {column: _vectors(column, dense(cache.get(column, state))) for column in self.columns}

    def buckets(
        self, values: Mapping[FeatureColumn, Sequence[Tensor]], boundaries: Sequence[Tensor], num_quantiles: int
    ) -> list[Tensor]:
        """The bucket numbers of all features, `[batch] int32` each.

        Args:
            values: what `values` gave.
            boundaries: those of the buckets of numeric columns' features.
            num_quantiles: about how many there are of one.
        """
        found: list[Tensor] = []
        first = 0
        for column, count in zip(self.columns, self._counts, strict=True):
            own = list(values[column])
            if _is_numeric(column):
                numbers = boosted_trees_bucketize(own, boundaries[first : first + count])
                # There may be some more than were asked for; statistics have room for one.
                own = [minimum(each, num_quantiles) for each in numbers]
                first += count
            found += own
        return found

    def groups(self, num_quantiles: int) -> list[FeatureGroup]:
        """The features by how many buckets they have; all bucketized columns have as many as the one with most.

        Args:
            num_quantiles: about how many buckets numeric columns get.
        """
        sizes = [len(column.boundaries) + 1 for column in self.columns if isinstance(column, BucketizedColumn)]
        most = max([2, *sizes])
        by_size: dict[int, list[int]] = {}
        late: list[int] = []
        first = 0
        for column, count in zip(self.columns, self._counts, strict=True):
            ids = list(range(first, first + count))
            first += count
            if isinstance(column, BucketizedColumn):
                late += ids
            else:
                by_size.setdefault(2 if isinstance(column, IndicatorColumn) else num_quantiles + 1, []).extend(ids)
        if late:
            by_size.setdefault(most, []).extend(late)
        return [FeatureGroup(*each) for each in by_size.items()]


def _is_numeric(column: FeatureColumn) -> bool:
    return not isinstance(column, BucketizedColumn | IndicatorColumn)


def _feature_count(column: FeatureColumn) -> int:
    """How many features a column has; ValueError for one that trees cannot take."""
    if isinstance(column, IndicatorColumn):
        return column.categorical_column.num_buckets
    if isinstance(column, BucketizedColumn):
        if tuple(column.source_column.shape) not in ((), (1,)):
            raise ValueError(
                f"For now, only supports features equivalent to rank 1 but column `{column.source_column.name}` got: "
                f"{column.source_column.shape}. The numeric column itself may have several numbers, which quantiles cut."
            )
        return 1
    if is_categorical(column):
        raise ValueError(
            f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}: tf.feature_column.indicator_column(column)"
        )
    if not is_dense(column):
        raise ValueError(f"Got unexpected feature column type {column}: trees take bucketized, indicator and dense columns")
    shape = column.variable_shape
    if (shape.ndims or 0) > 1:
        raise ValueError(f"For now, we only support Dense column with rank of 1, but column `{column.name}` got: {shape}")
    size = shape[0].value if shape.ndims else 1
    if size is None:
        raise ValueError(f"The size of column `{column.name}` has to be known, got: {shape}")
    return int(size)


def _vectors(column: FeatureColumn, values: Tensor) -> list[Tensor]:
    if isinstance(column, BucketizedColumn):
        return [squeeze(values, axis=1)]
    if isinstance(column, IndicatorColumn):
        if (values.shape.ndims or 0) > 2:
            raise ValueError(
                f"Rank of indicator column must be no more than 2, but column `{column.categorical_column.name}` got: "
                f"{values.shape}"
            )
        values = cast(values, dtypes.int32)
    return list(unstack(values, num=_feature_count(column), axis=1))

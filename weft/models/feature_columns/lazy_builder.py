"""What programs take from TensorFlow's modules to ask columns themselves: LazyBuilder, and the transformed features."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.graphs.graph import get_default_graph
from weft.models.feature_columns.column import FeatureColumn, FeatureMap, is_column
from weft.models.feature_columns.column_checks import column_list
from weft.models.feature_columns.contracts import FeatureTensor, StateManager
from weft.models.feature_columns.former_columns import BoundFeatures, keeper
from weft.models.feature_columns.input_layer import tensors_of
from weft.models.feature_columns.transformation_cache import FeatureTransformationCache
from weft.ops.input_scope import input_scope


class LazyBuilder(BoundFeatures):
    """The features of one model, by `get(key)`: each is transformed once, where it is first asked for.

    Variables that a column makes for it are made in the variable scope that is open then.

    Args:
        features: tensors or sparse tensors by feature name; those of rank 1 are seen as `[batch, 1]`.
    """

    def __init__(self, features: FeatureMap) -> None:
        super().__init__(FeatureTransformationCache(features), keeper())


def transform_features(features: FeatureMap, feature_columns: object) -> dict[FeatureColumn, FeatureTensor]:
    """What columns make of their features, by column.

    Args:
        features: tensors or sparse tensors by feature name.
        feature_columns: columns.

    Raises:
        ValueError: something is no column, two have one name, or a feature is missing.
    """
    return transform_features_with(features, feature_columns, keeper())


def transform_features_with(
    features: FeatureMap, feature_columns: object, state_manager: StateManager
) -> dict[FeatureColumn, FeatureTensor]:
    """As `transform_features`, with the keeper of the columns' variables.

    Args:
        features: tensors or sparse tensors by feature name.
        feature_columns: columns.
        state_manager: the keeper.
    """
    columns = column_list(feature_columns)
    cache, made = FeatureTransformationCache(features), {}
    with input_scope(None, "transform_features", tensors_of(features)):
        for column in columns:
            with get_default_graph().name_scope(column.name):
                made[column] = cache.get(column, state_manager)
    return made


def are_later_columns(feature_columns: Sequence[object]) -> bool:
    """Whether these are all columns that take the keeper of their variables, and are made of such.

    Args:
        feature_columns: columns, of either kind.
    """
    return all(is_column(each) and getattr(each, "_is_v2_column", False) for each in feature_columns)

"""What columns make of features in contrib.learn's models, which take those of contrib.layers and of tf.feature_column.

Columns that are all contrib.layers' are read by its layers, any others by tf.feature_column's: names of variables differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import FeatureColumn, FeatureMap
from weft.models.feature_columns.input_layer import input_layer
from weft.models.feature_columns.linear_model import linear_model
from weft.models.layer_columns.column import LayerColumn
from weft.models.layer_columns.layers import input_from_feature_columns, weighted_sum_from_feature_columns
from weft.ops.variables.scopes import VariableScope


def side_by_side(features: FeatureMap, columns: Sequence[FeatureColumn], collection: str, scope: VariableScope) -> Tensor:
    """The input of a network.

    Args:
        features: tensors or sparse tensors by feature name.
        columns: dense columns.
        collection: the collection of the part's variables.
        scope: the variable scope, which is the current one.

    Returns:
        `[batch, width]` float32.
    """
    layer_columns = _of_layers(columns)
    if layer_columns is None:
        return input_layer(features, columns, weight_collections=[collection])
    return input_from_feature_columns(features, layer_columns, weight_collections=[collection], scope=scope)


def weighted_sums(
    features: FeatureMap, columns: Sequence[FeatureColumn], outputs: int, collection: str, scope: VariableScope
) -> Tensor:
    """The outputs of a linear model.

    Args:
        features: tensors or sparse tensors by feature name.
        columns: columns of numbers and of ids.
        outputs: the number of sums.
        collection: the collection of the part's variables.
        scope: the variable scope, which is the current one.

    Returns:
        `[batch, outputs]` float32.
    """
    layer_columns = _of_layers(columns)
    if layer_columns is None:
        return linear_model(features, columns, units=outputs, weight_collections=[collection])
    return weighted_sum_from_feature_columns(features, layer_columns, outputs, weight_collections=[collection], scope=scope)[0]


def _of_layers(columns: Sequence[FeatureColumn]) -> list[LayerColumn] | None:
    """The columns where all are contrib.layers'."""
    found = [each for each in columns if isinstance(each, LayerColumn)]
    return found if len(found) == len(columns) else None

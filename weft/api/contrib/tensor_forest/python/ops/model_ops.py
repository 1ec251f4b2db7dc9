"""tf.contrib.tensor_forest.python.ops.model_ops: trees. This module only re-exports."""

from __future__ import annotations

from weft.estimators.forest.resources import TreeVariableSavable as TreeVariableSavable
from weft.estimators.forest.resources import tree_variable as tree_variable
from weft.ops.forest.tree_nodes import feature_usage_counts as feature_usage_counts
from weft.ops.forest.tree_nodes import traverse_tree_v4 as traverse_tree_v4
from weft.ops.forest.tree_nodes import tree_predictions_v4 as tree_predictions_v4
from weft.ops.forest.tree_nodes import tree_size as tree_size
from weft.ops.forest.tree_nodes import update_model_v4 as update_model_v4

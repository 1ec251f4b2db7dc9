"""tf.contrib.tensor_forest.python.ops.stats_ops: what the leaves of trees know. This module only re-exports."""

from __future__ import annotations

from weft.estimators.forest.resources import FertileStatsVariableSavable as FertileStatsVariableSavable
from weft.estimators.forest.resources import fertile_stats_variable as fertile_stats_variable
from weft.ops.forest.growth_nodes import grow_tree_v4 as grow_tree_v4
from weft.ops.forest.growth_nodes import process_input_v4 as process_input_v4

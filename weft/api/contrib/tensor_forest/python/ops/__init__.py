"""tf.contrib.tensor_forest.python.ops: what forests are made of. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.tensor_forest.python.ops import data_ops as data_ops
from weft.api.contrib.tensor_forest.python.ops import model_ops as model_ops
from weft.api.contrib.tensor_forest.python.ops import stats_ops as stats_ops
from weft.api.contrib.tensor_forest.python.ops import tensor_forest_ops as tensor_forest_ops

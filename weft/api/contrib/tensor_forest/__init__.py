"""tf.contrib.tensor_forest: random forests that grow while examples come in. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.tensor_forest import client as client
from weft.api.contrib.tensor_forest import python as python
from weft.api.contrib.tensor_forest.client import eval_metrics as eval_metrics
from weft.api.contrib.tensor_forest.client import random_forest as random_forest
from weft.api.contrib.tensor_forest.python import ops as ops
from weft.api.contrib.tensor_forest.python import tensor_forest as tensor_forest
from weft.api.contrib.tensor_forest.python.ops import data_ops as data_ops
from weft.api.contrib.tensor_forest.python.ops import model_ops as model_ops
from weft.api.contrib.tensor_forest.python.ops import stats_ops as stats_ops
from weft.api.contrib.tensor_forest.python.ops import tensor_forest_ops as tensor_forest_ops

"""tf.contrib.tensor_forest.client: estimators of forests, and their metrics. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.tensor_forest.client import eval_metrics as eval_metrics
from weft.api.contrib.tensor_forest.client import random_forest as random_forest

"""tf.contrib.tensor_forest.client.eval_metrics: metrics of forests by name. This module only re-exports."""

from __future__ import annotations

from weft.estimators.forest.eval_metrics import FEATURE_IMPORTANCE_NAME as FEATURE_IMPORTANCE_NAME
from weft.estimators.forest.eval_metrics import INFERENCE_PRED_NAME as INFERENCE_PRED_NAME
from weft.estimators.forest.eval_metrics import INFERENCE_PROB_NAME as INFERENCE_PROB_NAME
from weft.estimators.forest.eval_metrics import get_metric as get_metric
from weft.estimators.forest.eval_metrics import get_prediction_key as get_prediction_key

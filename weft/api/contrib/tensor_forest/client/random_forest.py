"""tf.contrib.tensor_forest.client.random_forest: estimators of forests. This module only re-exports."""

from __future__ import annotations

from weft.estimators.forest.estimator import CoreTensorForestEstimator as CoreTensorForestEstimator
from weft.estimators.forest.estimator import MultiForestMultiHeadEstimator as MultiForestMultiHeadEstimator
from weft.estimators.forest.estimator import TensorForestEstimator as TensorForestEstimator
from weft.estimators.forest.estimator import get_combined_model_fn as get_combined_model_fn
from weft.estimators.forest.hooks import LOSS_NAME as LOSS_NAME
from weft.estimators.forest.hooks import TensorForestLossHook as TensorForestLossHook
from weft.estimators.forest.hooks import TensorForestRunOpAtEndHook as TensorForestRunOpAtEndHook
from weft.estimators.forest.model import ALL_SERVING_KEY as ALL_SERVING_KEY
from weft.estimators.forest.model import EPSILON as EPSILON
from weft.estimators.forest.model import TREE_PATHS_PREDICTION_KEY as TREE_PATHS_PREDICTION_KEY
from weft.estimators.forest.model import VARIANCE_PREDICTION_KEY as VARIANCE_PREDICTION_KEY
from weft.estimators.forest.model import ModelBuilderOutputType as ModelBuilderOutputType
from weft.estimators.forest.model import get_model_fn as get_model_fn

"""tf.estimator.experimental: what may still change. This module only re-exports."""

from __future__ import annotations

from weft.estimators.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from weft.estimators.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from weft.estimators.canned.linear_sdca import LinearSDCA as LinearSDCA
from weft.estimators.clustering.estimator import KMeansClustering as _KMeansClustering
from weft.estimators.export.input_receiver import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)
from weft.estimators.hooks.early_stopping import make_early_stopping_hook as make_early_stopping_hook
from weft.estimators.hooks.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from weft.estimators.hooks.early_stopping import stop_if_lower_hook as stop_if_lower_hook
from weft.estimators.hooks.early_stopping import stop_if_no_decrease_hook as stop_if_no_decrease_hook
from weft.estimators.hooks.early_stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
from weft.estimators.hooks.in_memory_evaluator import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from weft.estimators.hooks.stop_at_checkpoint import make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook
from weft.estimators.logit_functions import call_logit_fn as call_logit_fn

# Under a name of its own: type checkers take a renamed import for the module's private business.
KMeans = _KMeansClustering

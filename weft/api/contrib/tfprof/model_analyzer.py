"""tf.contrib.tfprof.model_analyzer: parameters and floating-point operations of a graph. This module only re-exports."""

from __future__ import annotations

from weft.client.analysis.model_analyzer import print_model_analysis as print_model_analysis
from weft.client.analysis.options import FLOAT_OPS_OPTIONS as FLOAT_OPS_OPTIONS
from weft.client.analysis.options import TRAINABLE_VARS_PARAMS_STAT_OPTIONS as TRAINABLE_VARS_PARAMS_STAT_OPTIONS

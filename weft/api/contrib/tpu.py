"""tf.contrib.tpu: what programs for TPUs use where they run on CPUs and GPUs. This module only re-exports."""

from __future__ import annotations

from weft.api.estimator.tpu import InputPipelineConfig as InputPipelineConfig
from weft.api.estimator.tpu import RunConfig as RunConfig
from weft.api.estimator.tpu import TPUConfig as TPUConfig
from weft.api.estimator.tpu import TPUEstimator as TPUEstimator
from weft.api.estimator.tpu import TPUEstimatorSpec as TPUEstimatorSpec
from weft.api.tpu import CrossShardOptimizer as CrossShardOptimizer

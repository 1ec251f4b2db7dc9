"""tf.estimator.tpu: estimators of programs that run on TPUs elsewhere. This module only re-exports."""

from __future__ import annotations

from weft.estimators.tpu.config import InputPipelineConfig as InputPipelineConfig
from weft.estimators.tpu.config import TPUConfig as TPUConfig
from weft.estimators.tpu.config import TPURunConfig as RunConfig
from weft.estimators.tpu.estimator import TPUEstimator as TPUEstimator
from weft.estimators.tpu.spec import TPUEstimatorSpec as TPUEstimatorSpec

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]

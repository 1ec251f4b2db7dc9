"""tf.estimator.tpu: estimators of programs that run on TPUs elsewhere. This module only re-exports."""

from __future__ import annotations

from weft.estimators.tpu.config import InputPipelineConfig as InputPipelineConfig
from weft.estimators.tpu.config import TPUConfig as TPUConfig
from weft.estimators.tpu.config import TPURunConfig as _TPURunConfig
from weft.estimators.tpu.estimator import TPUEstimator as TPUEstimator
from weft.estimators.tpu.spec import TPUEstimatorSpec as TPUEstimatorSpec

# Under a name of its own: type checkers take a renamed import for the module's private business.
RunConfig = _TPURunConfig

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]

"""tf.contrib.predictor: functions that run a SavedModel. This module only re-exports."""

from __future__ import annotations

from weft.estimators.predictor import from_estimator as from_estimator
from weft.training.saved_model.predictor import from_saved_model as from_saved_model

"""prediction_key: the names of predictions. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.keys import PredictionKey as PredictionKey

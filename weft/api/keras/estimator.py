"""tf.keras.estimator: Keras' models as Estimators."""

from __future__ import annotations

from weft.networks.models.to_estimator import model_to_estimator as model_to_estimator

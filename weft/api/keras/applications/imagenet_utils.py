"""tf.keras.applications.imagenet_utils."""

from __future__ import annotations

from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_input as preprocess_input

"""tf.keras.applications.inception_v3."""

from __future__ import annotations

from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_around_zero as _preprocess_around_zero
from weft.networks.applications.inception import InceptionV3 as InceptionV3

# Under a name of its own: type checkers take a renamed import for the module's private business.
preprocess_input = _preprocess_around_zero

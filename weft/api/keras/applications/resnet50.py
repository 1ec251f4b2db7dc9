"""tf.keras.applications.resnet50."""

from __future__ import annotations

from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_around_means as _preprocess_around_means
from weft.networks.applications.resnet import ResNet50 as ResNet50

# Under a name of its own: type checkers take a renamed import for the module's private business.
preprocess_input = _preprocess_around_means

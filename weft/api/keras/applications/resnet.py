"""tf.keras.applications.resnet."""

from __future__ import annotations

from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_around_means as _preprocess_around_means
from weft.networks.applications.resnet import ResNet50 as ResNet50
from weft.networks.applications.resnet import ResNet101 as ResNet101
from weft.networks.applications.resnet import ResNet152 as ResNet152

# Under a name of its own: type checkers take a renamed import for the module's private business.
preprocess_input = _preprocess_around_means

"""tf.keras.applications.resnet_v2."""

from __future__ import annotations

from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_around_zero as _preprocess_around_zero
from weft.networks.applications.resnet import ResNet50V2 as ResNet50V2
from weft.networks.applications.resnet import ResNet101V2 as ResNet101V2
from weft.networks.applications.resnet import ResNet152V2 as ResNet152V2

# Under a name of its own: type checkers take a renamed import for the module's private business.
preprocess_input = _preprocess_around_zero

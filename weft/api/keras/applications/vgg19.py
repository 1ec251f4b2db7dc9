"""tf.keras.applications.vgg19."""

from __future__ import annotations

from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_around_means as _preprocess_around_means
from weft.networks.applications.vgg import VGG19 as VGG19

# Under a name of its own: type checkers take a renamed import for the module's private business.
preprocess_input = _preprocess_around_means

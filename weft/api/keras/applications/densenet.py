"""tf.keras.applications.densenet."""

from __future__ import annotations

from weft.networks.applications.densenet import DenseNet121 as DenseNet121
from weft.networks.applications.densenet import DenseNet169 as DenseNet169
from weft.networks.applications.densenet import DenseNet201 as DenseNet201
from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_normalized as _preprocess_normalized

# Under a name of its own: type checkers take a renamed import for the module's private business.
preprocess_input = _preprocess_normalized

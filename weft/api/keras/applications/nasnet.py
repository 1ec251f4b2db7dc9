"""tf.keras.applications.nasnet."""

from __future__ import annotations

from weft.networks.applications.imagenet import decode_predictions as decode_predictions
from weft.networks.applications.imagenet import preprocess_around_zero as _preprocess_around_zero
from weft.networks.applications.nasnet import NASNetLarge as NASNetLarge
from weft.networks.applications.nasnet import NASNetMobile as NASNetMobile

# Under a name of its own: type checkers take a renamed import for the module's private business.
preprocess_input = _preprocess_around_zero

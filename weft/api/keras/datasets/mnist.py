"""tf.keras.datasets.mnist."""

from __future__ import annotations

from weft.networks.datasets.loading import mnist as _mnist

# Under a name of its own: type checkers take a renamed import for the module's private business.
load_data = _mnist

"""tf.keras.datasets.fashion_mnist."""

from __future__ import annotations

from weft.networks.datasets.loading import fashion_mnist as _fashion_mnist

# Under a name of its own: type checkers take a renamed import for the module's private business.
load_data = _fashion_mnist

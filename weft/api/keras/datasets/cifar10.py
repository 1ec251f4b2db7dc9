"""tf.keras.datasets.cifar10."""

from __future__ import annotations

from weft.networks.datasets.loading import cifar10 as _cifar10

# Under a name of its own: type checkers take a renamed import for the module's private business.
load_data = _cifar10

"""tf.keras.datasets.cifar100."""

from __future__ import annotations

from weft.networks.datasets.loading import cifar100 as _cifar100

# Under a name of its own: type checkers take a renamed import for the module's private business.
load_data = _cifar100

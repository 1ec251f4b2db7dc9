"""tf.keras.datasets.cifar10."""

from __future__ import annotations

from weft.networks.datasets.loading import cifar10 as load_data

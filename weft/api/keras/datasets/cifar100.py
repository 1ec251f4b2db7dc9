"""tf.keras.datasets.cifar100."""

from __future__ import annotations

from weft.networks.datasets.loading import cifar100 as load_data

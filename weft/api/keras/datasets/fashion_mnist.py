"""tf.keras.datasets.fashion_mnist."""

from __future__ import annotations

from weft.networks.datasets.loading import fashion_mnist as load_data

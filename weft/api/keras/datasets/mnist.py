"""tf.keras.datasets.mnist."""

from __future__ import annotations

from weft.networks.datasets.loading import mnist as load_data

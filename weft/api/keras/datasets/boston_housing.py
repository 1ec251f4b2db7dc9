"""tf.keras.datasets.boston_housing."""

from __future__ import annotations

from weft.networks.datasets.loading import boston_housing as load_data

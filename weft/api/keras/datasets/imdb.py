"""tf.keras.datasets.imdb."""

from __future__ import annotations

from weft.networks.datasets.loading import imdb as load_data

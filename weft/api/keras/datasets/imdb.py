"""tf.keras.datasets.imdb."""

from __future__ import annotations

from weft.networks.datasets.loading import imdb as _imdb

# Under a name of its own: type checkers take a renamed import for the module's private business.
load_data = _imdb

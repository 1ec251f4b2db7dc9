"""tf.keras.datasets.imdb."""

from __future__ import annotations

from weft.networks.datasets.loading import imdb as _imdb
from weft.networks.datasets.loading import imdb_word_index as _imdb_word_index

# Under names of their own: type checkers take a renamed import for the module's private business.
load_data = _imdb
get_word_index = _imdb_word_index

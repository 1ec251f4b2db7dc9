"""tf.keras.datasets.reuters."""

from __future__ import annotations

from weft.networks.datasets.loading import reuters as _reuters
from weft.networks.datasets.loading import reuters_word_index as _reuters_word_index

# Under names of their own: type checkers take a renamed import for the module's private business.
load_data = _reuters
get_word_index = _reuters_word_index

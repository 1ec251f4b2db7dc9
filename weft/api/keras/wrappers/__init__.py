"""tf.keras.wrappers: models in the clothes of other libraries."""

from __future__ import annotations

from weft.api.keras.wrappers import scikit_learn as scikit_learn

"""tf.keras.mixed_precision: types that layers compute in."""

from __future__ import annotations

from weft.api.keras.mixed_precision import experimental as experimental

"""tf.keras.models: Model and Sequential."""

from __future__ import annotations

from weft.networks.models.model import Model as Model
from weft.networks.models.sequential import Sequential as Sequential

"""tf.saved_model.loader: reading models. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.loader import load as load
from weft.training.saved_model.loader import maybe_saved_model_directory as maybe_saved_model_directory

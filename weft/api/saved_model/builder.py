"""tf.saved_model.builder: writing models. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.builder import SavedModelBuilder as SavedModelBuilder

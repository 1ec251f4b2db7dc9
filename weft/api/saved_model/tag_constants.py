"""tf.saved_model.tag_constants: tags of graphs. This module only re-exports."""

from __future__ import annotations

from weft.training.saved_model.layout import EVAL as EVAL
from weft.training.saved_model.layout import GPU as GPU
from weft.training.saved_model.layout import SERVING as SERVING
from weft.training.saved_model.layout import TPU as TPU
from weft.training.saved_model.layout import TRAINING as TRAINING

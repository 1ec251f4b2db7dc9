"""tf.contrib.sparsemax: a softmax with zeros, and its loss. This module only re-exports."""

from __future__ import annotations

from weft.models.functional.sparsemax import sparsemax as sparsemax
from weft.models.functional.sparsemax import sparsemax_loss as sparsemax_loss

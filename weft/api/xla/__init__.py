"""tf.xla: marks of what XLA compiles."""

from __future__ import annotations

from weft.api.xla import experimental as experimental

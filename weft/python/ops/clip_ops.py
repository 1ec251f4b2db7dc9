"""tensorflow.python.ops.clip_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.math.clip import clip_by_average_norm as clip_by_average_norm
from weft.ops.math.clip import clip_by_global_norm as clip_by_global_norm
from weft.ops.math.clip import clip_by_norm as clip_by_norm
from weft.ops.math.clip import clip_by_value as clip_by_value
from weft.ops.math.norms import global_norm as global_norm

"""tf.contrib.compiler: marks of what XLA compiles."""

from __future__ import annotations

from weft.api.contrib.compiler import jit as jit
from weft.api.contrib.compiler import xla as xla

"""tf.xla.experimental."""

from __future__ import annotations

from weft.models.functional.compiled_parts import compile as compile
from weft.models.functional.compiled_parts import jit_scope as jit_scope

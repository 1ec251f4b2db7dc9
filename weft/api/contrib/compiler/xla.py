"""tf.contrib.compiler.xla."""

from __future__ import annotations

from weft.models.functional.compiled_parts import compile as compile

"""tf.contrib.compiler.jit."""

from __future__ import annotations

from weft.models.functional.compiled_parts import jit_scope as _jit_scope

# Under a name of its own: type checkers take a renamed import for the module's private business.
experimental_jit_scope = _jit_scope

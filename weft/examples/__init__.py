"""tf.examples: what the tutorials import."""

from __future__ import annotations

from weft.examples import tutorials as tutorials

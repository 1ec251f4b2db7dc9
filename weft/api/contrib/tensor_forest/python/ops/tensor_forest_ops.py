"""tf.contrib.tensor_forest.python.ops.tensor_forest_ops: numbers of texts. This module only re-exports."""

from __future__ import annotations

from weft.ops.forest.growth_nodes import reinterpret_string_to_float as reinterpret_string_to_float

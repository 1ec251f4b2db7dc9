"""tf.contrib.tensor_forest.python: parameters and graphs of forests. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.tensor_forest.python import ops as ops
from weft.api.contrib.tensor_forest.python import tensor_forest as tensor_forest

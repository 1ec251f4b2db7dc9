"""tf.contrib.slim.model_analyzer: sizes of variables and outputs. This module only re-exports."""

from __future__ import annotations

from weft.models.functional.model_sizes import analyze_ops as analyze_ops
from weft.models.functional.model_sizes import analyze_vars as analyze_vars
from weft.models.functional.model_sizes import tensor_description as tensor_description

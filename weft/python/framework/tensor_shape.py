"""tensorflow.python.framework.tensor_shape, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.framework.tensor_shape import Dimension as Dimension
from weft.framework.tensor_shape import TensorShape as TensorShape

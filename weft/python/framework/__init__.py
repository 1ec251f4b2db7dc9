"""tensorflow.python.framework, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.python.framework import device as device
from weft.python.framework import dtypes as dtypes
from weft.python.framework import errors as errors
from weft.python.framework import graph_util as graph_util
from weft.python.framework import ops as ops
from weft.python.framework import tensor_shape as tensor_shape

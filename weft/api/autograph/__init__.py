"""tf.autograph: Python's branches and loops over tensors as nodes. This module only re-exports."""

from __future__ import annotations

from weft.api.autograph import experimental as experimental
from weft.translation.convert import set_verbosity as set_verbosity
from weft.translation.convert import to_code as to_code
from weft.translation.convert import to_graph as to_graph
from weft.translation.convert import trace as trace

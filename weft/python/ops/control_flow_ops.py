"""tensorflow.python.ops.control_flow_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.case import case as case
from weft.ops.cond import cond as cond
from weft.ops.control import group as group
from weft.ops.control import no_op as no_op
from weft.ops.control import tuple_of as tuple
from weft.ops.control import with_dependencies as with_dependencies
from weft.ops.while_loop import while_loop as while_loop

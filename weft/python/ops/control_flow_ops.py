"""tensorflow.python.ops.control_flow_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.control_flow.case import case as case
from weft.ops.control_flow.cond import cond as cond
from weft.ops.control_flow.ordering import group as group
from weft.ops.control_flow.ordering import no_op as no_op
from weft.ops.control_flow.ordering import tuple_of as tuple
from weft.ops.control_flow.ordering import with_dependencies as with_dependencies
from weft.ops.control_flow.while_loop import while_loop as while_loop

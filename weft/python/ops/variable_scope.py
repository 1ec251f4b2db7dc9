"""tensorflow.python.ops.variable_scope, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.variables.variable_scope import VariableScope as VariableScope
from weft.ops.variables.variable_scope import get_local_variable as get_local_variable
from weft.ops.variables.variable_scope import get_variable as get_variable
from weft.ops.variables.variable_scope import get_variable_scope as get_variable_scope
from weft.ops.variables.variable_scope import variable_op_scope as variable_op_scope
from weft.ops.variables.variable_scope import variable_scope as variable_scope
from weft.ops.variables.variable_store import AUTO_REUSE as AUTO_REUSE

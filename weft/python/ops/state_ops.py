"""tensorflow.python.ops.state_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.variables.assign import assign as assign
from weft.ops.variables.assign import assign_add as assign_add
from weft.ops.variables.assign import assign_sub as assign_sub
from weft.ops.variables.assign import is_variable_initialized as is_variable_initialized
from weft.ops.variables.batch_scatter import batch_scatter_update as batch_scatter_update
from weft.ops.variables.scatter_update import scatter_add as scatter_add
from weft.ops.variables.scatter_update import scatter_sub as scatter_sub
from weft.ops.variables.scatter_update import scatter_update as scatter_update

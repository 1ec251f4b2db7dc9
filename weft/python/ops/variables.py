"""tensorflow.python.ops.variables, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.variables.collections import global_variables as global_variables
from weft.ops.variables.collections import global_variables_initializer as global_variables_initializer
from weft.ops.variables.collections import local_variables as local_variables
from weft.ops.variables.collections import local_variables_initializer as local_variables_initializer
from weft.ops.variables.collections import model_variables as model_variables
from weft.ops.variables.collections import moving_average_variables as moving_average_variables
from weft.ops.variables.collections import report_uninitialized_variables as report_uninitialized_variables
from weft.ops.variables.collections import trainable_variables as trainable_variables
from weft.ops.variables.collections import variables_initializer as variables_initializer
from weft.ops.variables.partitioned_variable import PartitionedVariable as PartitionedVariable
from weft.ops.variables.variable import Variable as Variable

"""tensorflow.python.ops.init_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.variables.initializers import constant_initializer as constant_initializer
from weft.ops.variables.initializers import glorot_normal_initializer as glorot_normal_initializer
from weft.ops.variables.initializers import glorot_uniform_initializer as glorot_uniform_initializer
from weft.ops.variables.initializers import ones_initializer as ones_initializer
from weft.ops.variables.initializers import orthogonal_initializer as orthogonal_initializer
from weft.ops.variables.initializers import random_normal_initializer as random_normal_initializer
from weft.ops.variables.initializers import random_uniform_initializer as random_uniform_initializer
from weft.ops.variables.initializers import truncated_normal_initializer as truncated_normal_initializer
from weft.ops.variables.initializers import uniform_unit_scaling_initializer as uniform_unit_scaling_initializer
from weft.ops.variables.initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.ops.variables.initializers import zeros_initializer as zeros_initializer

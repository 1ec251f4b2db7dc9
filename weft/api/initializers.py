"""tf.initializers: what makes the initial values of variables, and the operations that assign them."""

from __future__ import annotations

from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.variables.collections import global_variables_initializer as _global_variables_initializer
from weft.ops.variables.collections import local_variables_initializer as _local_variables_initializer
from weft.ops.variables.collections import variables_initializer as _variables_initializer
from weft.ops.variables.initializers import Constant as _Constant
from weft.ops.variables.initializers import GlorotNormal as _GlorotNormal
from weft.ops.variables.initializers import GlorotUniform as _GlorotUniform
from weft.ops.variables.initializers import Ones as _Ones
from weft.ops.variables.initializers import RandomNormal as _RandomNormal
from weft.ops.variables.initializers import RandomUniform as _RandomUniform
from weft.ops.variables.initializers import TruncatedNormal as _TruncatedNormal
from weft.ops.variables.initializers import UniformUnitScaling as _UniformUnitScaling
from weft.ops.variables.initializers import VarianceScaling as _VarianceScaling
from weft.ops.variables.initializers import Zeros as _Zeros
from weft.ops.variables.initializers import he_normal as he_normal
from weft.ops.variables.initializers import he_uniform as he_uniform
from weft.ops.variables.initializers import lecun_normal as lecun_normal
from weft.ops.variables.initializers import lecun_uniform as lecun_uniform
from weft.ops.variables.matrix_initializers import Identity as _Identity
from weft.ops.variables.matrix_initializers import Orthogonal as _Orthogonal

# Under a name of its own: type checkers take a renamed import for the module's private business.
global_variables = _global_variables_initializer
local_variables = _local_variables_initializer
variables = _variables_initializer
constant = _Constant
glorot_normal = _GlorotNormal
glorot_uniform = _GlorotUniform
identity = _Identity
ones = _Ones
orthogonal = _Orthogonal
random_normal = _RandomNormal
random_uniform = _RandomUniform
truncated_normal = _TruncatedNormal
uniform_unit_scaling = _UniformUnitScaling
variance_scaling = _VarianceScaling
zeros = _Zeros

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity",
    "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal", "random_normal", "random_uniform",
    "tables_initializer", "truncated_normal", "uniform_unit_scaling", "variables", "variance_scaling", "zeros",
]  # fmt: skip

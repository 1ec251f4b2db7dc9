"""tf.initializers: what makes the initial values of variables, and the operations that assign them."""

from __future__ import annotations

from weft.ops.lookup.tables import tables_initializer as tables_initializer
from weft.ops.variables.collections import global_variables_initializer as global_variables
from weft.ops.variables.collections import local_variables_initializer as local_variables
from weft.ops.variables.collections import variables_initializer as variables
from weft.ops.variables.initializers import Constant as constant
from weft.ops.variables.initializers import GlorotNormal as glorot_normal
from weft.ops.variables.initializers import GlorotUniform as glorot_uniform
from weft.ops.variables.initializers import Identity as identity
from weft.ops.variables.initializers import Ones as ones
from weft.ops.variables.initializers import Orthogonal as orthogonal
from weft.ops.variables.initializers import RandomNormal as random_normal
from weft.ops.variables.initializers import RandomUniform as random_uniform
from weft.ops.variables.initializers import TruncatedNormal as truncated_normal
from weft.ops.variables.initializers import UniformUnitScaling as uniform_unit_scaling
from weft.ops.variables.initializers import VarianceScaling as variance_scaling
from weft.ops.variables.initializers import Zeros as zeros
from weft.ops.variables.initializers import he_normal as he_normal
from weft.ops.variables.initializers import he_uniform as he_uniform
from weft.ops.variables.initializers import lecun_normal as lecun_normal
from weft.ops.variables.initializers import lecun_uniform as lecun_uniform

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity",
    "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal", "random_normal", "random_uniform",
    "tables_initializer", "truncated_normal", "uniform_unit_scaling", "variables", "variance_scaling", "zeros",
]  # fmt: skip

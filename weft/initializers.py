"""tf.initializers: what makes the initial values of variables, and the operations that assign them."""

from __future__ import annotations

from weft.ops.initializers import Constant as constant
from weft.ops.initializers import GlorotNormal as glorot_normal
from weft.ops.initializers import GlorotUniform as glorot_uniform
from weft.ops.initializers import Identity as identity
from weft.ops.initializers import Ones as ones
from weft.ops.initializers import Orthogonal as orthogonal
from weft.ops.initializers import RandomNormal as random_normal
from weft.ops.initializers import RandomUniform as random_uniform
from weft.ops.initializers import TruncatedNormal as truncated_normal
from weft.ops.initializers import UniformUnitScaling as uniform_unit_scaling
from weft.ops.initializers import VarianceScaling as variance_scaling
from weft.ops.initializers import Zeros as zeros
from weft.ops.initializers import he_normal as he_normal
from weft.ops.initializers import he_uniform as he_uniform
from weft.ops.initializers import lecun_normal as lecun_normal
from weft.ops.initializers import lecun_uniform as lecun_uniform
from weft.ops.lookup_tables import tables_initializer as tables_initializer
from weft.ops.variable_collections import global_variables_initializer as global_variables
from weft.ops.variable_collections import local_variables_initializer as local_variables
from weft.ops.variable_collections import variables_initializer as variables

__all__ = [
    "constant", "global_variables", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "identity",
    "lecun_normal", "lecun_uniform", "local_variables", "ones", "orthogonal", "random_normal", "random_uniform",
    "tables_initializer", "truncated_normal", "uniform_unit_scaling", "variables", "variance_scaling", "zeros",
]  # fmt: skip

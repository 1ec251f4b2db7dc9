"""tf.keras.initializers: what makes the first values of weights."""

from __future__ import annotations

from weft.networks.objects.initializers import RandomNormal as RandomNormal
from weft.networks.objects.initializers import RandomUniform as RandomUniform
from weft.networks.objects.initializers import TruncatedNormal as TruncatedNormal
from weft.networks.objects.initializers import deserialize as deserialize
from weft.networks.objects.initializers import get as get
from weft.networks.objects.initializers import serialize as serialize
from weft.ops.variables.initializers import Constant as Constant
from weft.ops.variables.initializers import GlorotNormal as _GlorotNormal
from weft.ops.variables.initializers import GlorotUniform as _GlorotUniform
from weft.ops.variables.initializers import Initializer as Initializer
from weft.ops.variables.initializers import Ones as Ones
from weft.ops.variables.initializers import VarianceScaling as VarianceScaling
from weft.ops.variables.initializers import Zeros as Zeros
from weft.ops.variables.initializers import he_normal as he_normal
from weft.ops.variables.initializers import he_uniform as he_uniform
from weft.ops.variables.initializers import lecun_normal as lecun_normal
from weft.ops.variables.initializers import lecun_uniform as lecun_uniform
from weft.ops.variables.matrix_initializers import Identity as Identity
from weft.ops.variables.matrix_initializers import Orthogonal as Orthogonal

# Under a name of its own: type checkers take a renamed import for the module's private business.
normal = RandomNormal
random_normal = RandomNormal
random_uniform = RandomUniform
uniform = RandomUniform
truncated_normal = TruncatedNormal
constant = Constant
glorot_normal = _GlorotNormal
glorot_uniform = _GlorotUniform
identity = Identity
ones = Ones
orthogonal = Orthogonal
zeros = Zeros

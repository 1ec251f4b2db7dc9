"""tensorflow.python.ops.random_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.random.functions import multinomial as multinomial
from weft.ops.random.functions import random_crop as random_crop
from weft.ops.random.functions import random_gamma as random_gamma
from weft.ops.random.functions import random_normal as random_normal
from weft.ops.random.functions import random_shuffle as random_shuffle
from weft.ops.random.functions import random_uniform as random_uniform
from weft.ops.random.functions import truncated_normal as truncated_normal

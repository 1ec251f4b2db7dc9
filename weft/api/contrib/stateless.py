"""tf.contrib.stateless: random numbers that a seed of two numbers alone tells. This module only re-exports."""

from __future__ import annotations

from weft.api.random import stateless_multinomial as stateless_multinomial
from weft.api.random import stateless_normal as _stateless_normal
from weft.api.random import stateless_truncated_normal as stateless_truncated_normal
from weft.api.random import stateless_uniform as _stateless_uniform

# Under a name of its own: type checkers take a renamed import for the module's private business.
stateless_random_normal = _stateless_normal
stateless_random_uniform = _stateless_uniform

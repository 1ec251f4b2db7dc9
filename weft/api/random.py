"""tf.random: random tensors and their seeds."""

from __future__ import annotations

from weft.ops.nn.learned_sampler import learned_unigram_candidate_sampler as learned_unigram_candidate_sampler
from weft.ops.nn.sampler import all_candidate_sampler as all_candidate_sampler
from weft.ops.nn.sampler import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from weft.ops.nn.sampler import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from weft.ops.nn.sampler import uniform_candidate_sampler as uniform_candidate_sampler
from weft.ops.random.functions import categorical as categorical
from weft.ops.random.functions import multinomial as multinomial
from weft.ops.random.functions import random_gamma as _random_gamma
from weft.ops.random.functions import random_normal as _random_normal
from weft.ops.random.functions import random_poisson as _random_poisson
from weft.ops.random.functions import random_shuffle as _random_shuffle
from weft.ops.random.functions import random_uniform as _random_uniform
from weft.ops.random.functions import truncated_normal as truncated_normal
from weft.ops.random.seed import get_seed as get_seed
from weft.ops.random.seed import set_random_seed as set_random_seed
from weft.ops.random.stateless_functions import stateless_categorical as stateless_categorical
from weft.ops.random.stateless_functions import stateless_multinomial as stateless_multinomial
from weft.ops.random.stateless_functions import stateless_random_normal as _stateless_random_normal
from weft.ops.random.stateless_functions import stateless_random_uniform as _stateless_random_uniform
from weft.ops.random.stateless_functions import stateless_truncated_normal as stateless_truncated_normal

# Under a name of its own: type checkers take a renamed import for the module's private business.
gamma = _random_gamma
normal = _random_normal
poisson = _random_poisson
shuffle = _random_shuffle
uniform = _random_uniform
stateless_normal = _stateless_random_normal
stateless_uniform = _stateless_random_uniform

__all__ = [
    "all_candidate_sampler",
    "categorical",
    "fixed_unigram_candidate_sampler",
    "gamma",
    "get_seed",
    "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "multinomial",
    "normal",
    "poisson",
    "set_random_seed",
    "shuffle",
    "stateless_categorical",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
    "uniform_candidate_sampler",
]  # fmt: skip

"""tf.random: random tensors and their seeds."""

from __future__ import annotations

from weft.ops.nn.sampler import all_candidate_sampler as all_candidate_sampler
from weft.ops.nn.sampler import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from weft.ops.nn.sampler import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from weft.ops.nn.sampler import uniform_candidate_sampler as uniform_candidate_sampler
from weft.ops.random.functions import categorical as categorical
from weft.ops.random.functions import multinomial as multinomial
from weft.ops.random.functions import random_gamma as gamma
from weft.ops.random.functions import random_normal as normal
from weft.ops.random.functions import random_poisson as poisson
from weft.ops.random.functions import random_shuffle as shuffle
from weft.ops.random.functions import random_uniform as uniform
from weft.ops.random.functions import stateless_categorical as stateless_categorical
from weft.ops.random.functions import stateless_multinomial as stateless_multinomial
from weft.ops.random.functions import stateless_random_normal as stateless_normal
from weft.ops.random.functions import stateless_random_uniform as stateless_uniform
from weft.ops.random.functions import stateless_truncated_normal as stateless_truncated_normal
from weft.ops.random.functions import truncated_normal as truncated_normal
from weft.ops.random.seed import get_seed as get_seed
from weft.ops.random.seed import set_random_seed as set_random_seed

__all__ = [
    "all_candidate_sampler",
    "categorical",
    "fixed_unigram_candidate_sampler",
    "gamma",
    "get_seed",
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

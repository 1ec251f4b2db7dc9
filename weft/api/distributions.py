"""tf.distributions: probability distributions. This module only re-exports."""

from __future__ import annotations

from weft.models.distributions.beta import Beta as Beta
from weft.models.distributions.beta import Dirichlet as Dirichlet
from weft.models.distributions.discrete import Bernoulli as Bernoulli
from weft.models.distributions.discrete import Categorical as Categorical
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from weft.models.distributions.distribution import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from weft.models.distributions.distribution import Distribution as Distribution
from weft.models.distributions.distribution import ReparameterizationType as ReparameterizationType
from weft.models.distributions.divergence import RegisterKL as RegisterKL
from weft.models.distributions.divergence import kl_divergence as kl_divergence
from weft.models.distributions.gamma import Exponential as Exponential
from weft.models.distributions.gamma import Gamma as Gamma
from weft.models.distributions.laplace import Laplace as Laplace
from weft.models.distributions.multinomial import DirichletMultinomial as DirichletMultinomial
from weft.models.distributions.multinomial import Multinomial as Multinomial
from weft.models.distributions.normal import Normal as Normal
from weft.models.distributions.student_t import StudentT as StudentT
from weft.models.distributions.uniform import Uniform as Uniform

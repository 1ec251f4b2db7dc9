"""tf.contrib.distributions: the distributions of tf.distributions, and further ones. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib import bijectors as bijectors
from weft.models.bijectors.elementwise import softplus_inverse as softplus_inverse
from weft.models.bijectors.matrices import fill_triangular as fill_triangular
from weft.models.bijectors.matrices import fill_triangular_inverse as fill_triangular_inverse
from weft.models.distributions.auto_correlation import auto_correlation as auto_correlation
from weft.models.distributions.beta import Beta as Beta
from weft.models.distributions.beta import Dirichlet as Dirichlet
from weft.models.distributions.conjugates import (
    normal_conjugates_known_scale_posterior as normal_conjugates_known_scale_posterior,
)
from weft.models.distributions.conjugates import (
    normal_conjugates_known_scale_predictive as normal_conjugates_known_scale_predictive,
)
from weft.models.distributions.counts import OneHotCategorical as OneHotCategorical
from weft.models.distributions.counts import Poisson as Poisson
from weft.models.distributions.deterministic import Deterministic as Deterministic
from weft.models.distributions.deterministic import VectorDeterministic as VectorDeterministic
from weft.models.distributions.discrete import Bernoulli as Bernoulli
from weft.models.distributions.discrete import Categorical as Categorical
from weft.models.distributions.distribution import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from weft.models.distributions.distribution import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from weft.models.distributions.distribution import Distribution as Distribution
from weft.models.distributions.distribution import ReparameterizationType as ReparameterizationType
from weft.models.distributions.divergence import RegisterKL as RegisterKL
from weft.models.distributions.divergence import kl_divergence as kl_divergence
from weft.models.distributions.extremes import Cauchy as Cauchy
from weft.models.distributions.gamma import Exponential as Exponential
from weft.models.distributions.gamma import Gamma as Gamma
from weft.models.distributions.independent import Independent as Independent
from weft.models.distributions.laplace import Laplace as Laplace
from weft.models.distributions.laplace import Logistic as Logistic
from weft.models.distributions.low_rank import MultivariateNormalDiagPlusLowRank as MultivariateNormalDiagPlusLowRank
from weft.models.distributions.mixture import Mixture as Mixture
from weft.models.distributions.mixture import MixtureSameFamily as MixtureSameFamily
from weft.models.distributions.moving_statistics import assign_log_moving_mean_exp as assign_log_moving_mean_exp
from weft.models.distributions.moving_statistics import assign_moving_mean_variance as assign_moving_mean_variance
from weft.models.distributions.moving_statistics import moving_mean_variance as moving_mean_variance
from weft.models.distributions.multinomial import DirichletMultinomial as DirichletMultinomial
from weft.models.distributions.multinomial import Multinomial as Multinomial
from weft.models.distributions.multivariate_normal import MultivariateNormalDiag as MultivariateNormalDiag
from weft.models.distributions.multivariate_tril import (
    MultivariateNormalDiagWithSoftplusScale as MultivariateNormalDiagWithSoftplusScale,
)
from weft.models.distributions.multivariate_tril import MultivariateNormalFullCovariance as MultivariateNormalFullCovariance
from weft.models.distributions.multivariate_tril import MultivariateNormalTriL as MultivariateNormalTriL
from weft.models.distributions.normal import Normal as Normal
from weft.models.distributions.normal import NormalWithSoftplusScale as NormalWithSoftplusScale
from weft.models.distributions.percentiles import percentile as percentile
from weft.models.distributions.positive import Chi2 as Chi2
from weft.models.distributions.positive import Chi2WithAbsDf as Chi2WithAbsDf
from weft.models.distributions.positive import HalfNormal as HalfNormal
from weft.models.distributions.positive import InverseGamma as InverseGamma
from weft.models.distributions.quantized import QuantizedDistribution as QuantizedDistribution
from weft.models.distributions.relaxed import ExpRelaxedOneHotCategorical as ExpRelaxedOneHotCategorical
from weft.models.distributions.relaxed import RelaxedBernoulli as RelaxedBernoulli
from weft.models.distributions.relaxed import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from weft.models.distributions.seed_stream import SeedStream as SeedStream
from weft.models.distributions.student_t import StudentT as StudentT
from weft.models.distributions.transformed import TransformedDistribution as TransformedDistribution
from weft.models.distributions.transformed_numbers import Kumaraswamy as Kumaraswamy
from weft.models.distributions.transformed_numbers import SinhArcsinh as SinhArcsinh
from weft.models.distributions.transformed_parameters import BetaWithSoftplusConcentration as BetaWithSoftplusConcentration
from weft.models.distributions.transformed_parameters import ExponentialWithSoftplusRate as ExponentialWithSoftplusRate
from weft.models.distributions.transformed_parameters import (
    GammaWithSoftplusConcentrationRate as GammaWithSoftplusConcentrationRate,
)
from weft.models.distributions.transformed_parameters import (
    InverseGammaWithSoftplusConcentrationRate as InverseGammaWithSoftplusConcentrationRate,
)
from weft.models.distributions.transformed_parameters import LaplaceWithSoftplusScale as LaplaceWithSoftplusScale
from weft.models.distributions.transformed_parameters import StudentTWithAbsDfSoftplusScale as StudentTWithAbsDfSoftplusScale
from weft.models.distributions.transformed_vectors import VectorExponentialDiag as VectorExponentialDiag
from weft.models.distributions.transformed_vectors import VectorLaplaceDiag as VectorLaplaceDiag
from weft.models.distributions.transformed_vectors import VectorSinhArcsinhDiag as VectorSinhArcsinhDiag
from weft.models.distributions.trials import Binomial as Binomial
from weft.models.distributions.trials import Geometric as Geometric
from weft.models.distributions.trials import NegativeBinomial as NegativeBinomial
from weft.models.distributions.uniform import Uniform as Uniform
from weft.models.distributions.weighted_sums import matrix_diag_transform as matrix_diag_transform
from weft.models.distributions.weighted_sums import reduce_weighted_logsumexp as reduce_weighted_logsumexp
from weft.models.distributions.weighted_sums import tridiag as tridiag
from weft.models.distributions.wishart import WishartCholesky as WishartCholesky
from weft.models.distributions.wishart import WishartFull as WishartFull

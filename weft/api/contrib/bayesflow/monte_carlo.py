"""tf.contrib.bayesflow.monte_carlo: expectations as means over samples. This module only re-exports."""

from __future__ import annotations

from weft.models.distributions.monte_carlo import expectation as expectation
from weft.models.distributions.monte_carlo import expectation_importance_sampler as expectation_importance_sampler
from weft.models.distributions.monte_carlo import (
    expectation_importance_sampler_logspace as expectation_importance_sampler_logspace,
)

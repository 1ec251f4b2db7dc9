"""tf.contrib.bayesflow: expectations as means over samples. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.bayesflow import monte_carlo as monte_carlo

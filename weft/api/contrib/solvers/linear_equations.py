"""tf.contrib.solvers.linear_equations: linear equations. This module only re-exports."""

from __future__ import annotations

from weft.models.solvers.gradients import conjugate_gradient as conjugate_gradient

"""tf.contrib.solvers.least_squares: linear least squares. This module only re-exports."""

from __future__ import annotations

from weft.models.solvers.gradients import cgls as cgls

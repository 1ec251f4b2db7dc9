"""tensorflow.python.training.moving_averages, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.train.optimizers.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from weft.train.optimizers.moving_averages import assign_moving_average as assign_moving_average
from weft.train.optimizers.moving_averages import weighted_moving_average as weighted_moving_average

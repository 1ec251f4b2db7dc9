"""tf.contrib.mixed_precision: scales of losses, and the optimizer that uses one. This module only re-exports."""

from __future__ import annotations

from weft.training.loss_scaling.managers import ExponentialUpdateLossScaleManager as ExponentialUpdateLossScaleManager
from weft.training.loss_scaling.managers import FixedLossScaleManager as FixedLossScaleManager
from weft.training.loss_scaling.managers import LossScaleManager as LossScaleManager
from weft.training.loss_scaling.optimizers import LossScaleOptimizer as LossScaleOptimizer

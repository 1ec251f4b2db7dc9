"""tf.keras.mixed_precision.experimental: policies of types, and scales of losses."""

from __future__ import annotations

from weft.networks.objects.policy import Policy as Policy
from weft.networks.objects.policy import global_policy as global_policy
from weft.networks.objects.policy import set_policy as set_policy
from weft.networks.optimizers.loss_scaling import LossScaleOptimizer as LossScaleOptimizer

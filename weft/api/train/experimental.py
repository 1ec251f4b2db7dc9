"""tf.train.experimental: scales of losses, and state of Python in checkpoints. This module only re-exports."""

from __future__ import annotations

from weft.training.loss_scaling.loss_scale import DynamicLossScale as DynamicLossScale
from weft.training.loss_scaling.loss_scale import FixedLossScale as FixedLossScale
from weft.training.loss_scaling.loss_scale import LossScale as LossScale
from weft.training.loss_scaling.optimizers import MixedPrecisionLossScaleOptimizer as MixedPrecisionLossScaleOptimizer
from weft.training.loss_scaling.rewrite import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from weft.training.loss_scaling.rewrite import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite
from weft.training.tracking.python_state import PythonState as PythonState

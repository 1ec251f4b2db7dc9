"""How the losses of replicas become one."""

from __future__ import annotations

from weft.strategies.reduction.reduce_op import ReduceOp
from weft.training.optimizers.replicas import is_mean_over_replicas


def get_loss_reduction() -> ReduceOp:
    """How the losses of replicas become one: MEAN in an Estimator unless the last loss is a sum, SUM elsewhere."""
    return ReduceOp.MEAN if is_mean_over_replicas() else ReduceOp.SUM

"""The losses of dual coordinate ascent far away from where it ends."""

from __future__ import annotations

import math

from weft.framework.registry import op_registry
from weft.ops.training.dual_losses import DUAL_LOSSES


def test_losses_of_predictions_without_bounds_are_numbers() -> None:
    for name, loss in DUAL_LOSSES.items():
        for prediction in (-1e4, 1e4):
            primal, slope = loss.primal(prediction, 1.0, 1.0), loss.slope(prediction, 1.0)
            assert not math.isnan(primal + slope), name
    poisson = DUAL_LOSSES["poisson_loss"]
    assert poisson.primal(1e4, 1.0, 1.0) == math.inf


def test_the_ops_take_these_losses_and_no_other() -> None:
    for name in ("SdcaOptimizer", "SdcaOptimizerV2"):
        assert set(op_registry.lookup(name).attrs["loss_type"].choices) == set(DUAL_LOSSES)

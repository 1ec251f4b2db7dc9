"""add_metrics: an estimator like another one, whose evaluations have further metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from weft.estimators.aliases import Features, Labels
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.framework.compat.function_signatures import fn_args

_TAKEN: Final = frozenset(("features", "labels", "predictions", "config"))


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Nest]) -> Estimator:
    """Make an estimator that has another one's model, directory and RunConfig, and further metrics.

    Args:
        estimator: the other one.
        metric_fn: takes any of `features`, `labels`, `predictions` and `config`; returns metrics by name, pairs of value and
            update.

    Raises:
        ValueError: it takes other arguments.
    """
    taken = fn_args(metric_fn)
    others = sorted(set(taken) - _TAKEN)
    if others:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {others}")

    def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        added = metric_fn(**{name: offered[name] for name in taken})
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **added})

    return Estimator(
        model_fn, model_dir=estimator.model_dir, config=estimator.config, warm_start_from=estimator.warm_start_settings
    )

"""The tf.estimator inside of one of contrib.learn's, which lets a model say what its loss is over several batches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from weft.estimators import estimator as core
from weft.estimators.aliases import Features, InputFn, Labels
from weft.estimators.estimator_spec import LOSS_METRIC_KEY, EstimatorSpec
from weft.estimators.evaluation_graph import EvaluationGraph
from weft.estimators.learn.model_fn_ops import ModelFnOps
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.ops.control_flow.ordering import group
from weft.strategies.strategy import Strategy
from weft.training.hooks.session_run_hook import SessionRunHook


class CoreEstimator(core.Estimator):
    """An Estimator of a model of ModelFnOps, whose metric `loss`, if it has one, stands for the mean of the batches' losses.

    Args:
        build: makes the model of features, labels, mode and config.
        default_output: which of several outputs is the default of an exported model.
        config: the RunConfig.
    """

    def __init__(
        self, build: Callable[[Features, Labels, str, RunConfig], ModelFnOps], default_output: str | None, config: RunConfig
    ) -> None:
        self._loss_metric: tuple[Nest, Nest] | None = None  # of the model that was built last

        def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
            made = build(features, labels, mode, config)
            self._loss_metric = made.eval_metric_ops.get(LOSS_METRIC_KEY)
            return made.estimator_spec(default_output)

        super().__init__(model_fn, config=config)

    def _assert_members_are_not_overridden(self) -> None:
        """That one may be."""

    def _built_evaluation(
        self, strategy: Strategy | None, input_fn: InputFn, hooks: Sequence[SessionRunHook]
    ) -> EvaluationGraph:
        built = super()._built_evaluation(strategy, input_fn, hooks)
        if self._loss_metric is None:
            return built
        value, update = self._loss_metric
        return dataclasses.replace(
            built, update_op=group(built.update_op, update), values={**built.values, LOSS_METRIC_KEY: value}
        )

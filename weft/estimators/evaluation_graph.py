"""The graph of an evaluation: the model with its metrics, the operation of one batch, and the values at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.estimators.aliases import Features, Labels, MetricOps
from weft.estimators.estimator_spec import LOSS_METRIC_KEY, EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.metrics.mean import mean
from weft.ops.control_flow.ordering import group
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.scaffold import Scaffold
from weft.training.sessions.evaluation import get_or_create_eval_step
from weft.training.training_util import get_global_step


@dataclass(frozen=True)
class EvaluationGraph:
    """What an evaluation runs: `update_op` for each batch, then `values` by the metrics' names."""

    scaffold: Scaffold
    update_op: Operation
    values: dict[str, Nest]
    hooks: list[SessionRunHook]


def build_evaluation(
    call_model_fn: Callable[[Features, Labels, str], EstimatorSpec],
    features: Features,
    labels: Labels,
    hooks: Sequence[SessionRunHook],
) -> EvaluationGraph:
    """Build the model for an evaluation, in the default graph, which has a global step.

    Args:
        call_model_fn: builds the model from features, labels and mode.
        features, labels: its input.
        hooks: those of the input and of the caller.

    Raises:
        ValueError: a metric has a name that every evaluation uses itself.
    """
    spec = call_model_fn(features, labels, ModeKeys.EVAL)
    _check_names(spec.eval_metric_ops)
    return evaluation_of(spec.eval_metric_ops, mean(spec.loss), spec.scaffold, [*hooks, *spec.evaluation_hooks])


def evaluation_of(
    eval_metric_ops: MetricOps, loss: tuple[Tensor, Tensor], scaffold: Scaffold, hooks: list[SessionRunHook]
) -> EvaluationGraph:
    """An evaluation of a model that is built, with its metrics and that of its loss.

    Raises:
        ValueError: a metric has a name that every evaluation uses itself.
    """
    _check_names(eval_metric_ops)
    metrics = {**eval_metric_ops, LOSS_METRIC_KEY: loss}
    # Looked up before the metrics' names are checked: the model may have replaced the step by one of its own.
    values = {name: value for name, (value, _) in sorted(metrics.items())}
    update_op = group(*(update for _, (_, update) in sorted(metrics.items())))
    if GraphKeys.GLOBAL_STEP in values:
        raise ValueError(
            "Metric with name `global_step` is not allowed, because Estimator already defines a default metric with the same "
            "name."
        )
    step: VariableLike = get_global_step()
    values[GraphKeys.GLOBAL_STEP] = step
    return EvaluationGraph(_scaffold(scaffold), update_op, values, hooks)


def _check_names(eval_metric_ops: MetricOps) -> None:
    if LOSS_METRIC_KEY in eval_metric_ops:
        raise ValueError(
            f'Metric with name "{LOSS_METRIC_KEY}" is not allowed, because Estimator already defines a default metric with the '
            "same name."
        )


def _scaffold(scaffold: Scaffold) -> Scaffold:
    """The model's scaffold; one that initializes local variables itself initializes the evaluation's too."""
    if scaffold.local_init_op is None:
        return scaffold
    get_or_create_eval_step()
    return Scaffold(local_init_op=group(scaffold.local_init_op, Scaffold.default_local_init_op()), copy_from_scaffold=scaffold)

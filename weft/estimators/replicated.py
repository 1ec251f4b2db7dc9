"""An estimator's model as a strategy builds it: one EstimatorSpec, or one evaluation, of what all replicas gave."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.estimators.aliases import Features, InputFn, Labels
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.evaluation_graph import EvaluationGraph, evaluation_of
from weft.estimators.input_function import DatasetInitializerHook
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest, SessionLike
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation
from weft.framework.types.replica_values import Value
from weft.models.metrics.mean import mean
from weft.ops.control_flow.ordering import group
from weft.strategies.input.iterators import InputContext
from weft.strategies.loss_reduction import get_loss_reduction
from weft.strategies.strategy import Strategy
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.scaffold import Scaffold

_CallInput = Callable[[InputFn, str, InputContext], Nest]
_CallModel = Callable[[Features, Labels, str], EstimatorSpec]


def replicated_input(
    strategy: Strategy, call_input_fn: _CallInput, input_fn: InputFn, mode: str
) -> tuple[Features, Labels, list[SessionRunHook]]:
    """The replicas' features and labels, and the hooks that start the input, of which each replica takes a batch.

    Raises:
        ValueError: an element is a tuple or list of another length than 2.
    """
    iterator = strategy.make_input_fn_iterator(lambda context: call_input_fn(input_fn, mode, context))
    hooks: list[SessionRunHook] = [DatasetInitializerHook(each) for each in iterator.initialize()]
    element = iterator.get_next()
    if isinstance(element, tuple | list):
        if len(element) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return element[0], element[1], hooks
    return element, None, hooks


def replicated_training(strategy: Strategy, call_model_fn: _CallModel, features: Features, labels: Labels) -> EstimatorSpec:
    """Build the replicas' models for training, in the strategy's scope.

    Returns:
        Their loss, the mean or the sum as the model's losses are; one operation of all their updates; the first replica's
        hooks; the parts of a session that they want together.
    """
    spec = strategy.extended.call_for_each_replica(call_model_fn, args=(features, labels, ModeKeys.TRAIN))
    loss = strategy.reduce(get_loss_reduction(), spec.loss)
    return EstimatorSpec(
        spec.mode,
        loss=loss,
        train_op=strategy.group(spec.train_op),
        training_hooks=_of_first(strategy, spec.training_hooks),
        training_chief_hooks=_of_first(strategy, spec.training_chief_hooks),
        scaffold=_together(strategy.unwrap(spec.scaffold)),
    )


def replicated_evaluation(
    strategy: Strategy, call_model_fn: _CallModel, features: Features, labels: Labels, hooks: Sequence[SessionRunHook]
) -> EvaluationGraph:
    """Build the replicas' models for an evaluation, in the strategy's scope; metrics are those of all replicas."""
    spec = strategy.extended.call_for_each_replica(call_model_fn, args=(features, labels, ModeKeys.EVAL))
    loss_metric = strategy.extended.call_for_each_replica(mean, args=(spec.loss,))
    metrics = {name: _metric(strategy, metric) for name, metric in spec.eval_metric_ops.items()}
    scaffold = _together(strategy.unwrap(spec.scaffold))
    all_hooks = [*hooks, *_of_first(strategy, spec.evaluation_hooks)]
    return evaluation_of(metrics, _metric(strategy, loss_metric), scaffold, all_hooks)


def _metric(strategy: Strategy, metric: Nest) -> tuple[Nest, Nest]:
    value, update = metric
    return nest.map_structure(lambda each: strategy.unwrap(each)[0], value), strategy.group(update)


def _of_first(strategy: Strategy, hooks: Sequence[Value]) -> list[SessionRunHook]:
    return [strategy.unwrap(each)[0] for each in hooks]


def _together(scaffolds: Sequence[Scaffold]) -> Scaffold:
    """One scaffold of the replicas'."""
    first = scaffolds[0]
    if len(scaffolds) == 1:
        return first

    def grouped(operations: Sequence[Operation | None]) -> Operation | None:
        given = [each for each in operations if each is not None]
        return group(*given) if given else None

    init_fns = [each.init_fn for each in scaffolds if each.init_fn is not None]

    def init_all(scaffold: Scaffold, session: SessionLike) -> None:
        for each in init_fns:
            each(session)

    return Scaffold(
        init_op=grouped([each.init_op for each in scaffolds]),
        init_fn=init_all if init_fns else None,
        local_init_op=grouped([each.local_init_op for each in scaffolds]),
        copy_from_scaffold=first,
    )

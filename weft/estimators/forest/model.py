"""The model of a forest's estimators: predictions, loss, training and hooks, of its graphs and a head."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, Protocol, TypeAlias

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.class_heads import BinaryClassHead, MultiClassHead
from weft.estimators.canned.head import Head
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import PredictOutput
from weft.estimators.forest.graphs import RandomForestGraphs
from weft.estimators.forest.hooks import TensorForestLossHook, TensorForestRunOpAtEndHook
from weft.estimators.forest.hparams import ForestHParams
from weft.estimators.learn.keys import ProblemType
from weft.estimators.learn.model_fn_ops import ModeKeys, ModelFnOps
from weft.estimators.learn.tasks import Classes, Numbers
from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.feature_columns.column import FeatureColumn
from weft.models.feature_columns.lazy_builder import transform_features
from weft.models.layer_columns.column import LayerColumn
from weft.models.layer_columns.layers import transform_features as transform_layer_features
from weft.models.losses import Reduction
from weft.ops.array.padding import slice_of
from weft.ops.control_flow.ordering import group
from weft.ops.math.comparison import maximum
from weft.ops.math.unary import log
from weft.ops.summary.nodes import scalar
from weft.ops.variables.assign import assign_add
from weft.training.hooks.session_run_hook import SessionRunHook
from weft.training.training_util import get_global_step

TREE_PATHS_PREDICTION_KEY: Final = "tree_paths"
VARIANCE_PREDICTION_KEY: Final = "prediction_variance"
ALL_SERVING_KEY: Final = "tensorforest_all"
EPSILON: Final = 0.000001

ForestModelFn: TypeAlias = Callable[[Features, Labels, str], Nest]
GraphBuilder: TypeAlias = Callable[..., RandomForestGraphs]


class ModelBuilderOutputType:
    """What a model function gives: ModelFnOps of contrib.learn, or an EstimatorSpec."""

    MODEL_FN_OPS: Final = 0
    ESTIMATOR_SPEC: Final = 1


class LearnHead(Protocol):
    """A head of contrib.learn: makes ModelFnOps of logits."""

    def create_model_fn_ops(
        self, features: Features, mode: str, labels: Labels = None, train_op_fn: Callable[[Tensor], Nest] | None = None,
        logits: Nest = None, logits_input: Nest = None, scope: str | None = None,
    ) -> ModelFnOps:  # fmt: skip
        """The ModelFnOps of a batch; the logits are those of the model."""
        ...


class TaskHead:
    """A head of contrib.learn for a task.

    Args:
        task: the task.
    """

    def __init__(self, task: Classes | Numbers) -> None:
        self._task = task

    def create_model_fn_ops(
        self, features: Features, mode: str, labels: Labels = None, train_op_fn: Callable[[Tensor], Nest] | None = None,
        logits: Nest = None, logits_input: Nest = None, scope: str | None = None,
    ) -> ModelFnOps:  # fmt: skip
        """The predictions, the loss, its training and the metrics, as far as the mode needs them."""
        predictions = self._task.predictions(logits)
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, predictions)
        made = self._task.loss(features, logits, labels)
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, predictions, made.loss, eval_metric_ops=self._task.metrics(predictions, made))
        return ModelFnOps(mode, predictions, made.loss, None if train_op_fn is None else train_op_fn(made.loss))


class _Settings(NamedTuple):
    params: ForestHParams
    graph_builder_class: GraphBuilder
    device_assigner: Nest
    feature_columns: tuple[FeatureColumn, ...]
    weights_name: str | None
    head: LearnHead | Head
    keys_name: str | None
    early_stopping_rounds: int | None
    early_stopping_loss_threshold: float | None
    num_trainers: int
    trainer_id: int
    report_feature_importances: bool
    local_eval: bool
    head_scope: str | None
    include_all_in_serving: bool


def default_head(
    params: ForestHParams, weights_name: str | None, output_type: int, name: str | None = None
) -> LearnHead | Head:
    """The head of a forest: one for classes, or one for numbers.

    Args:
        params: the forest's parameters, filled.
        weights_name: the feature with the weights of examples.
        output_type: what the model function gives, one of ModelBuilderOutputType.
        name: the head's name.
    """
    count = params.num_outputs if params.regression else params.num_classes
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        return TaskHead(Numbers(count, weights_name) if params.regression else Classes(count, weights_name))
    mean = Reduction.SUM_OVER_BATCH_SIZE
    if params.regression:
        return RegressionHead(weights_name, count, loss_reduction=mean, name=name)
    if count == 2:
        return BinaryClassHead(weights_name, loss_reduction=mean, name=name)
    return MultiClassHead(count, weights_name, loss_reduction=mean, name=name)


def get_model_fn(
    params: ForestHParams, graph_builder_class: GraphBuilder, device_assigner: Nest,
    feature_columns: Iterable[FeatureColumn] | None = None, weights_name: str | None = None,
    model_head: LearnHead | Head | None = None, keys_name: str | None = None, early_stopping_rounds: int | None = 100,
    early_stopping_loss_threshold: float | None = 0.001, num_trainers: int = 1, trainer_id: int = 0,
    report_feature_importances: bool = False, local_eval: bool = False, head_scope: str | None = None,
    include_all_in_serving: bool = False, output_type: int = ModelBuilderOutputType.MODEL_FN_OPS,
) -> ForestModelFn:  # fmt: skip
    """A model function of a forest.

    Args:
        params: the forest's parameters, filled.
        graph_builder_class: makes the graphs of the forest, as RandomForestGraphs does.
        device_assigner: puts trees on devices.
        feature_columns: columns that make features of the input's.
        weights_name: the feature with the weights of examples.
        model_head: makes predictions, loss and metrics; one for the forest's task when None.
        keys_name: a feature that is passed on to the predictions, and not looked at.
        early_stopping_rounds: training stops when the loss has not got better for so many steps; None or 0 for never.
        early_stopping_loss_threshold: by which part of itself a loss has to be less to be better.
        num_trainers, trainer_id: among how many programs the trees are dealt, and which of these this is.
        report_feature_importances: log at the end of training by which part of all nodes each feature splits.
        local_eval: whether evaluations have all trees where they run.
        head_scope: the scope that the head is given.
        include_all_in_serving: whether the variance is exported with the predictions.
        output_type: what the function gives, one of ModelBuilderOutputType.
    """
    settings = _Settings(
        params, graph_builder_class, device_assigner, tuple(feature_columns or ()), weights_name,
        model_head or default_head(params, weights_name, output_type), keys_name, early_stopping_rounds,
        early_stopping_loss_threshold, num_trainers, trainer_id, report_feature_importances, local_eval, head_scope,
        include_all_in_serving,
    )  # fmt: skip
    # Named as model functions are, because estimators look at the names of arguments.
    if output_type == ModelBuilderOutputType.MODEL_FN_OPS:
        return lambda features, labels, mode: _model_fn_ops(settings, _Model(settings, features, labels, mode))
    return lambda features, labels, mode: _estimator_spec(settings, _Model(settings, features, labels, mode))


class _Model:
    """The graph of a forest for a mode."""

    def __init__(self, settings: _Settings, features: Features, labels: Labels, mode: str) -> None:
        self._settings = settings
        self.mode, self.labels = mode, labels
        self.features = _by_name(features, settings.feature_columns)
        weights = None if settings.weights_name is None else self.features.pop(settings.weights_name, None)
        self.keys = None if settings.keys_name is None else self.features.pop(settings.keys_name, None)
        is_local = mode == ModeKeys.INFER or (settings.local_eval and mode == ModeKeys.EVAL)
        forest = settings.graph_builder_class(settings.params, device_assigner=None if is_local else settings.device_assigner)
        outputs, self.tree_paths, self.variance = forest.inference_graph(self.features)
        scalar("average_tree_size", forest.average_size())
        self.logits = outputs if settings.params.regression or settings.params.num_classes != 2 else _log_odds(outputs)
        self._train_op: Operation | None = None
        if labels is not None and mode == ModeKeys.TRAIN:
            with get_default_graph().control_dependencies([self.logits.op]):
                given = {} if weights is None else {"input_weights": weights}
                grown = forest.training_graph(self.features, labels, settings.num_trainers, settings.trainer_id, **given)
                self._train_op = group(grown, assign_add(get_global_step(), 1))
        if settings.weights_name is not None and weights is not None:
            self.features[settings.weights_name] = weights
        self.importances = forest.feature_importances() if settings.report_feature_importances else None

    def train_op(self, loss: Tensor) -> Operation | None:
        """What makes a step; trees grow by labels, whatever the loss is."""
        return self._train_op

    def hooks(self, loss: Tensor | None) -> list[SessionRunHook]:
        """The hooks of training."""
        settings = self._settings
        found: list[SessionRunHook] = []
        if self.importances is not None:
            found.append(TensorForestRunOpAtEndHook({"1: feature_importances": self.importances}))
        if settings.early_stopping_rounds:
            threshold = settings.early_stopping_loss_threshold
            found.append(TensorForestLossHook(settings.early_stopping_rounds, threshold, loss))
        return found

    def further_predictions(self) -> dict[str, Nest]:
        """What a forest predicts beside the head's predictions."""
        found: dict[str, Nest] = {}
        if self.keys is not None:
            found[str(self._settings.keys_name)] = self.keys
        if self._settings.params.inference_tree_paths:
            found[TREE_PATHS_PREDICTION_KEY] = self.tree_paths
        return {**found, VARIANCE_PREDICTION_KEY: self.variance}


def _model_fn_ops(settings: _Settings, model: _Model) -> ModelFnOps:
    assert not isinstance(settings.head, Head)
    made = settings.head.create_model_fn_ops(
        features=model.features, labels=model.labels, mode=model.mode, train_op_fn=model.train_op, logits=model.logits,
        scope=settings.head_scope,
    )  # fmt: skip
    predictions = {**made.predictions, **model.further_predictions()}
    alternatives = made.output_alternatives
    if settings.include_all_in_serving:
        alternatives = {**(alternatives or {}), ALL_SERVING_KEY: (ProblemType.UNSPECIFIED, predictions)}
    hooks = [*made.training_hooks, *model.hooks(made.loss)]
    return made._replace(predictions=predictions, output_alternatives=alternatives, training_hooks=hooks)


def _estimator_spec(settings: _Settings, model: _Model) -> EstimatorSpec:
    assert isinstance(settings.head, Head)
    made = settings.head.create_estimator_spec(
        features=model.features, mode=model.mode, labels=model.labels, train_op_fn=model.train_op, logits=model.logits
    )
    predictions = {**(made.predictions or {}), **model.further_predictions()}
    changed = made._replace(predictions=predictions, training_hooks=[*model.hooks(made.loss), *made.training_hooks])
    if settings.include_all_in_serving and model.mode == ModeKeys.INFER:
        return changed._replace(export_outputs={**(made.export_outputs or {}), ALL_SERVING_KEY: PredictOutput(predictions)})
    return changed


def _by_name(features: Features, columns: Iterable[FeatureColumn]) -> dict[str, Nest]:
    found: dict[str, Nest] = {"features": features} if isinstance(features, Tensor | SparseTensor) else dict(features)
    for column in columns:
        if isinstance(column, LayerColumn):
            found[column.name] = transform_layer_features(found, [column])[column]
        else:
            found[column.name] = transform_features(found, [column])[column]
    return found


def _log_odds(probabilities: Tensor) -> Tensor:
    """The logit of the second of two classes, which stays finite where a forest is sure."""
    second = slice_of(probabilities, [0, 1], [-1, 1])
    return log(maximum(second / maximum(1.0 - second, EPSILON), EPSILON))

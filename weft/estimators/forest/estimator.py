"""TensorForestEstimator and its like: random forests as estimators of contrib.learn and of tf.estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from weft.estimators import estimator as core
from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.head import Head
from weft.estimators.forest.graphs import RandomForestGraphs
from weft.estimators.forest.hparams import ForestHParams
from weft.estimators.forest.model import (
    ForestModelFn,
    GraphBuilder,
    LearnHead,
    ModelBuilderOutputType,
    default_head,
    get_model_fn,
)
from weft.estimators.learn.estimator import Estimator
from weft.estimators.learn.keys import PredictionKey
from weft.estimators.learn.model_fn_ops import ModeKeys, ModelFnOps
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.feature_columns.column import FeatureColumn
from weft.ops.array.joining import concat
from weft.ops.array.padding import slice_of
from weft.ops.array.stacking import stack
from weft.ops.control_flow.ordering import group
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.variables.variable_scope import variable_scope
from weft.training.hooks.session_run_hook import SessionRunHook

_FeatureFn = Callable[[Features, Labels], tuple[Features, Labels]]


def _trainers(num_trainers: int, config: RunConfig | None) -> int:
    return max(1, config.num_worker_replicas) if num_trainers == 1 and config is not None else num_trainers


class TensorForestEstimator(Estimator):
    """A random forest that grows while examples come in (Geurts et al. 2006; Domingos and Hulten 2000).

        params = tf.contrib.tensor_forest.python.tensor_forest.ForestHParams(
            num_classes=3, num_features=4, num_trees=10, max_nodes=1000)
        estimator = tf.contrib.tensor_forest.client.random_forest.TensorForestEstimator(params)
        estimator.fit(x=x, y=y)

    Args:
        params: the forest's parameters.
        device_assigner: puts trees on devices.
        model_dir: where checkpoints and events are written.
        feature_columns: columns that make features of the input's.
        graph_builder_class: makes the graphs of the forest.
        config: the RunConfig.
        weight_column: the feature with the weights of examples.
        keys_column: a feature that is passed on to the predictions, and not looked at.
        feature_engineering_fn: makes features and labels of the input's.
        early_stopping_rounds: training stops when the trees have not grown for so many steps; None or 0 for never.
        early_stopping_loss_threshold: by which part of itself a loss has to be less to be better.
        num_trainers, trainer_id: among how many programs the trees are dealt, and which of these this is.
        report_feature_importances: log at the end of training by which part of all nodes each feature splits.
        local_eval: whether evaluations have all trees where they run.
        version: not looked at.
        head: makes predictions, loss and metrics; one for the forest's task when None.
        include_all_in_serving: whether the variance is exported with the predictions.
    """

    def __init__(
        self, params: ForestHParams, device_assigner: Nest = None, model_dir: str | None = None,
        feature_columns: Iterable[FeatureColumn] | None = None, graph_builder_class: GraphBuilder = RandomForestGraphs,
        config: RunConfig | None = None, weight_column: str | None = None, keys_column: str | None = None,
        feature_engineering_fn: _FeatureFn | None = None, early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float | None = 0.001, num_trainers: int = 1, trainer_id: int = 0,
        report_feature_importances: bool = False, local_eval: bool = False, version: str | None = None,
        head: LearnHead | None = None, include_all_in_serving: bool = False,
    ) -> None:  # fmt: skip
        model_fn = get_model_fn(
            params.fill(), graph_builder_class, device_assigner, feature_columns, weight_column, head, keys_column,
            early_stopping_rounds, early_stopping_loss_threshold, _trainers(num_trainers, config), trainer_id,
            report_feature_importances, local_eval, include_all_in_serving=include_all_in_serving,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


def get_combined_model_fn(model_fns: Sequence[ForestModelFn]) -> ForestModelFn:
    """A model function of several forests, each for one column of the labels.

    Args:
        model_fns: those of the forests, for contrib.learn.

    Returns:
        A function that gives the mean of their losses, their probabilities side by side, and each one's class.
    """

    def model_fn(features: Features, labels: Labels, mode: str) -> ModelFnOps:
        each = []
        for number, build in enumerate(model_fns):
            with variable_scope(f"label_{number}"):
                each.append(build(features, None if labels is None else slice_of(labels, [0, number], [-1, 1]), mode))
        predictions: dict[str, Tensor] = {}
        if mode in (ModeKeys.EVAL, ModeKeys.INFER):
            for key, join in ((PredictionKey.PROBABILITIES, concat), (PredictionKey.CLASSES, stack)):
                predictions[key] = join([made.predictions[key] for made in each], axis=1)
        loss: Tensor | None = None
        if mode in (ModeKeys.EVAL, ModeKeys.TRAIN):
            loss = reduce_sum(stack([made.loss for made in each])) / len(each)
        train_op: Operation | None = group(*(made.train_op for made in each)) if mode == ModeKeys.TRAIN else None
        hooks: list[SessionRunHook] = [hook for made in each for hook in made.training_hooks]
        return ModelFnOps(mode, predictions, loss, train_op, training_hooks=hooks)

    return model_fn


class MultiForestMultiHeadEstimator(Estimator):
    """A forest for each column of the labels.

    Args:
        params_list: the parameters of the forests.
        device_assigner, model_dir, feature_columns, graph_builder_class, config, weight_column, keys_column: see
            TensorForestEstimator.
        feature_engineering_fn, early_stopping_rounds, num_trainers, trainer_id, report_feature_importances, local_eval: see
            TensorForestEstimator.
    """

    def __init__(
        self, params_list: Sequence[ForestHParams], device_assigner: Nest = None, model_dir: str | None = None,
        feature_columns: Iterable[FeatureColumn] | None = None, graph_builder_class: GraphBuilder = RandomForestGraphs,
        config: RunConfig | None = None, weight_column: str | None = None, keys_column: str | None = None,
        feature_engineering_fn: _FeatureFn | None = None, early_stopping_rounds: int | None = 100, num_trainers: int = 1,
        trainer_id: int = 0, report_feature_importances: bool = False, local_eval: bool = False,
    ) -> None:  # fmt: skip
        model_fns = []
        for number, given in enumerate(params_list):
            params = given.fill()
            head = default_head(params, weight_column, ModelBuilderOutputType.MODEL_FN_OPS, name=f"head{number}")
            model_fns.append(
                get_model_fn(
                    params, graph_builder_class, device_assigner, feature_columns, weight_column, head, keys_column,
                    early_stopping_rounds, num_trainers=_trainers(num_trainers, config), trainer_id=trainer_id,
                    report_feature_importances=report_feature_importances, local_eval=local_eval,
                    head_scope=f"output{number}",
                )
            )  # fmt: skip
        super().__init__(get_combined_model_fn(model_fns), model_dir, config, feature_engineering_fn=feature_engineering_fn)


class CoreTensorForestEstimator(core.Estimator):
    """A random forest as a tf.estimator, with `train`, `evaluate` and `predict`.

    Args:
        params, device_assigner, model_dir, feature_columns, graph_builder_class, config: see TensorForestEstimator.
        weight_column, keys_column, early_stopping_rounds, early_stopping_loss_threshold, num_trainers, trainer_id: see there.
        feature_engineering_fn, version: not looked at.
        report_feature_importances, local_eval, include_all_in_serving: see there.
        head: a head of tf.estimator; one for the forest's task when None.
    """

    def __init__(
        self, params: ForestHParams, device_assigner: Nest = None, model_dir: str | None = None,
        feature_columns: Iterable[FeatureColumn] | None = None, graph_builder_class: GraphBuilder = RandomForestGraphs,
        config: RunConfig | None = None, weight_column: str | None = None, keys_column: str | None = None,
        feature_engineering_fn: _FeatureFn | None = None, early_stopping_rounds: int | None = 100,
        early_stopping_loss_threshold: float | None = 0.001, num_trainers: int = 1, trainer_id: int = 0,
        report_feature_importances: bool = False, local_eval: bool = False, version: str | None = None,
        head: Head | None = None, include_all_in_serving: bool = False,
    ) -> None:  # fmt: skip
        if trainer_id == 0 and config is not None:
            trainer_id = config.global_id_in_cluster or 0
        model_fn = get_model_fn(
            params.fill(), graph_builder_class, device_assigner, feature_columns, weight_column, head, keys_column,
            early_stopping_rounds, early_stopping_loss_threshold, _trainers(num_trainers, config), trainer_id,
            report_feature_importances, local_eval, include_all_in_serving=include_all_in_serving,
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)

"""Wide and deep models: a linear model and a network whose logits are added, each with an optimizer of its own."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.class_heads import binary_or_multi_class_head
from weft.estimators.canned.dnn import Network, check_features, input_partitioner, network_logits
from weft.estimators.canned.head import Head
from weft.estimators.canned.linear import linear_logit_fn_builder
from weft.estimators.canned.optimizers import OptimizerLike, get_optimizer_instance
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.run_config import RunConfig
from weft.estimators.warm_start_settings import WarmStartSettings
from weft.framework.building.aliases import Activation, Partitioner
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.feature_columns.column import FeatureColumns
from weft.models.feature_columns.former_columns import FormerFeatureColumn
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.losses import Reduction
from weft.ops.control_flow.ordering import group
from weft.ops.nn.activation import relu
from weft.ops.nn.norm import zero_fraction
from weft.ops.summary.nodes import histogram, scalar
from weft.ops.variables.assign import assign_add
from weft.ops.variables.partitioners import min_max_variable_partitioner
from weft.ops.variables.variable_scope import variable_scope
from weft.training.optimizers.optimizer import Optimizer
from weft.training.optimizers.sync_replicas_optimizer import SyncReplicasOptimizer
from weft.training.training_util import get_global_step

_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005


class _Part:
    """One of the two models: its logits, its optimizer, and the scope of its variables."""

    def __init__(self, logits: Tensor, optimizer: OptimizerLike, learning_rate: float, scope: str) -> None:
        self.logits = logits
        self._optimizer = _optimizer(optimizer, learning_rate)
        self._scope = scope

    def minimize(self, loss: Tensor) -> Operation:
        """The update of this part's variables."""
        variables = get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, self._scope)
        return self._optimizer.minimize(loss, var_list=variables)


class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a feed-forward network together, with any head.

    Args:
        head: the task.
        model_dir: see Estimator.
        linear_feature_columns: the linear model's columns, dense and categorical.
        linear_optimizer: its optimizer.
        dnn_feature_columns: the network's columns, dense.
        dnn_optimizer: its optimizer.
        dnn_hidden_units: the sizes of its hidden layers.
        dnn_activation_fn: of these layers.
        dnn_dropout: the share of a layer's outputs that training drops; None for none.
        input_layer_partitioner: cuts the variables of columns; parts of 64 MB for each parameter server when None.
        config: see Estimator.
        batch_norm: whether to normalize each hidden layer's outputs.
        linear_sparse_combiner: how the weights of one example's ids in a column become one.
        warm_start_from: see Estimator.

    Raises:
        ValueError: there are no columns at all.
    """

    def __init__(
        self,
        head: Head,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
        warm_start_from: str | WarmStartSettings | None = None,
    ) -> None:
        wide, deep = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
        if not wide and not deep:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")

        def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features)
            cut = input_layer_partitioner or input_partitioner(config)
            parts = []
            if deep:
                if not dnn_hidden_units:
                    raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
                network = Network(dnn_hidden_units, deep, dnn_activation_fn, dnn_dropout, cut, batch_norm)
                parts.append(_deep_part(network, head.logits_dimension, features, mode, config, dnn_optimizer))
            if wide:
                parts.append(_wide_part(wide, head.logits_dimension, features, cut, linear_sparse_combiner, linear_optimizer))
            logits = parts[0].logits if len(parts) == 1 else parts[0].logits + parts[1].logits

            def train_op(loss: Tensor) -> Operation:
                with get_default_graph().control_dependencies([group(*(part.minimize(loss) for part in parts))]):
                    return assign_add(get_global_step(), 1).op

            return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train_op)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """A linear model and a feed-forward network that tell classes together.

    Args:
        model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout: see DNNLinearCombinedEstimator.
        n_classes: how many classes there are; labels are their numbers.
        weight_column: the feature with the weights of examples.
        label_vocabulary: the classes' names, if labels are names.
        input_layer_partitioner, config, warm_start_from: see DNNLinearCombinedEstimator.
        loss_reduction: how the losses of examples become one.
        batch_norm, linear_sparse_combiner: see DNNLinearCombinedEstimator.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None,
        n_classes: int = 2,
        weight_column: str | NumericColumn | None = None,
        label_vocabulary: Sequence[str] | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: str | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm, linear_sparse_combiner,
            warm_start_from,
        )  # fmt: skip


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """A linear model and a feed-forward network that tell numbers together.

    Args:
        model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout: see DNNLinearCombinedEstimator.
        label_dimension: how many numbers an example has.
        weight_column: the feature with the weights of examples.
        input_layer_partitioner, config, warm_start_from: see DNNLinearCombinedEstimator.
        loss_reduction: how the losses of examples become one.
        batch_norm, linear_sparse_combiner: see DNNLinearCombinedEstimator.
    """

    def __init__(
        self,
        model_dir: str | os.PathLike[str] | None = None,
        linear_feature_columns: FeatureColumns | None = None,
        linear_optimizer: OptimizerLike = "Ftrl",
        dnn_feature_columns: FeatureColumns | None = None,
        dnn_optimizer: OptimizerLike = "Adagrad",
        dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None,
        label_dimension: int = 1,
        weight_column: str | NumericColumn | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: str | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
        linear_sparse_combiner: str = "sum",
    ) -> None:
        head = RegressionHead(weight_column, label_dimension, loss_reduction)
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm, linear_sparse_combiner,
            warm_start_from,
        )  # fmt: skip


def _deep_part(
    network: Network, units: int, features: Features, mode: str, config: RunConfig, optimizer: OptimizerLike
) -> _Part:
    whole = min_max_variable_partitioner(max_partitions=config.num_ps_replicas)
    with variable_scope("dnn", values=tuple(features.values()), partitioner=whole) as scope:
        logits = network_logits(network, units, features, mode)
    return _Part(logits, optimizer, _DNN_LEARNING_RATE, scope.name)


def _wide_part(
    columns: tuple[FormerFeatureColumn | tuple[object, ...], ...],
    units: int,
    features: Features,
    partitioner: Partitioner,
    sparse_combiner: str,
    optimizer: OptimizerLike,
) -> _Part:
    with variable_scope("linear", values=tuple(features.values()), partitioner=partitioner) as scope:
        logits = linear_logit_fn_builder(units, columns, sparse_combiner)(features)
        scalar(f"{scope.name}/fraction_of_zero_values", zero_fraction(logits))
        histogram(f"{scope.name}/activation", logits)
    return _Part(logits, optimizer, min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(columns))), scope.name)


def _optimizer(optimizer: OptimizerLike, learning_rate: float) -> Optimizer:
    made = get_optimizer_instance(optimizer, learning_rate)
    if isinstance(made, SyncReplicasOptimizer):
        raise ValueError(
            "SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not supported in DNNLinearCombined "
            "model. If you want to use this optimizer, please use either DNN or Linear model."
        )
    return made

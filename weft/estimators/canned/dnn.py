"""Feed-forward networks over feature columns: DNNClassifier, DNNRegressor, DNNEstimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weft.estimators.aliases import Features, Labels
from weft.estimators.canned.class_heads import binary_or_multi_class_head
from weft.estimators.canned.head import Head
from weft.estimators.canned.optimizers import OptimizerLike, get_optimizer_instance
from weft.estimators.canned.regression_head import RegressionHead
from weft.estimators.estimator import Estimator
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.mode_keys import ModeKeys
from weft.estimators.run_config import RunConfig
from weft.estimators.warm_start_settings import WarmStartSettings
from weft.framework.building.aliases import Activation, Partitioner
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import FeatureColumns
from weft.models.feature_columns.input_layer import network_input_layer
from weft.models.feature_columns.numeric import NumericColumn
from weft.models.layers.core import Dense, dropout
from weft.models.layers.norm import batch_normalization
from weft.models.losses import Reduction
from weft.ops.nn.activation import relu
from weft.ops.nn.norm import zero_fraction
from weft.ops.summary.nodes import histogram, scalar
from weft.ops.variables.initializers import GlorotUniform
from weft.ops.variables.partitioners import min_max_variable_partitioner
from weft.ops.variables.scopes import VariableScope
from weft.ops.variables.variable_scope import variable_scope

INPUT_SLICE_BYTES = 64 << 20  # the smallest part of an embedding's table that is worth a parameter server of its own
_LEARNING_RATE = 0.05
_BATCH_NORM_MOMENTUM = 0.999


@dataclass(frozen=True)
class Network:
    """The form of a feed-forward network.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns.
        activation_fn: of the hidden layers.
        dropout: the share of a layer's outputs that training drops; None for none.
        input_layer_partitioner: cuts the variables of columns.
        batch_norm: whether to normalize each hidden layer's outputs.
    """

    hidden_units: Sequence[int]
    feature_columns: FeatureColumns
    activation_fn: Activation | None
    dropout: float | None
    input_layer_partitioner: Partitioner | None
    batch_norm: bool


def network_logits(network: Network, units: int, features: Features, mode: str) -> Tensor:
    """The network's output, `[batch, units]`, in the variable scope of now."""
    is_training = mode == ModeKeys.TRAIN
    if isinstance(network.hidden_units, int):
        raise TypeError(f"hidden_units must be a list of the layers' sizes; of one layer it is [{network.hidden_units}].")
    with variable_scope("input_from_feature_columns", partitioner=network.input_layer_partitioner):
        outputs = network_input_layer(features, network.feature_columns)
    for number, size in enumerate(network.hidden_units):
        with variable_scope(f"hiddenlayer_{number}") as scope:
            outputs = _dense(outputs, size, network.activation_fn, scope)
            if network.dropout is not None and is_training:
                outputs = dropout(outputs, rate=network.dropout, training=True)
            if network.batch_norm:
                get_default_graph().node_count.total += 10
                outputs = batch_normalization(
                    outputs, momentum=_BATCH_NORM_MOMENTUM, training=is_training, name=f"batchnorm_{number}"
                )
        summarize(outputs, scope.name)
    with variable_scope("logits") as scope:
        logits = _dense(outputs, units, None, scope)
    summarize(logits, scope.name)
    return logits


def dnn_logit_fn_builder(
    units: int,
    hidden_units: Sequence[int],
    feature_columns: FeatureColumns,
    activation_fn: Activation | None,
    dropout: float | None,
    input_layer_partitioner: Partitioner | None,
    batch_norm: bool,
) -> Callable[[Features, str], Tensor]:
    """A function from features and mode to a network's logits.

    Args:
        units: the size of the logits.
        hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm: see Network.

    Raises:
        ValueError: `units` is no int.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")
    network = Network(hidden_units, tuple(feature_columns), activation_fn, dropout, input_layer_partitioner, batch_norm)

    def dnn_logit_fn(features: Features, mode: str) -> Tensor:
        return network_logits(network, units, features, mode)

    return dnn_logit_fn


class DNNEstimator(Estimator):
    """A feed-forward network with any head.

    Args:
        head: the task.
        hidden_units: the sizes of the hidden layers.
        feature_columns: dense columns.
        model_dir: see Estimator.
        optimizer: an Optimizer, its name, or a function that makes it.
        activation_fn: of the hidden layers.
        dropout: the share of a layer's outputs that training drops; None for none.
        input_layer_partitioner: cuts the variables of columns; parts of 64 MB for each parameter server when None.
        config, warm_start_from: see Estimator.
        batch_norm: whether to normalize each hidden layer's outputs.
    """

    def __init__(
        self,
        head: Head,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns | None,
        model_dir: str | os.PathLike[str] | None = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: str | WarmStartSettings | None = None,
        batch_norm: bool = False,
    ) -> None:
        columns = tuple(feature_columns or ())

        def model_fn(features: Features, labels: Labels, mode: str, config: RunConfig) -> EstimatorSpec:
            check_features(features)
            chosen = get_optimizer_instance(optimizer, _LEARNING_RATE)
            cut = input_layer_partitioner or input_partitioner(config)
            network = Network(hidden_units, columns, activation_fn, dropout, cut, batch_norm)
            whole = min_max_variable_partitioner(max_partitions=config.num_ps_replicas)
            with variable_scope("dnn", values=tuple(features.values()), partitioner=whole):
                logits = network_logits(network, head.logits_dimension, features, mode)
                return head.create_estimator_spec(features, mode, logits, labels, chosen)

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """A feed-forward network that tells classes.

        classifier = tf.estimator.DNNClassifier([64, 32], [tf.feature_column.numeric_column("x", 4)], n_classes=3)

    Args:
        hidden_units, feature_columns, model_dir: see DNNEstimator.
        n_classes: how many classes there are; labels are their numbers.
        weight_column: the feature with the weights of examples.
        label_vocabulary: the classes' names, if labels are names.
        optimizer, activation_fn, dropout, input_layer_partitioner, config, warm_start_from: see DNNEstimator.
        loss_reduction: how the losses of examples become one.
        batch_norm: see DNNEstimator.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns | None,
        model_dir: str | os.PathLike[str] | None = None,
        n_classes: int = 2,
        weight_column: str | NumericColumn | None = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: str | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config,
            warm_start_from, batch_norm,
        )  # fmt: skip


class DNNRegressor(DNNEstimator):
    """A feed-forward network that tells numbers.

    Args:
        hidden_units, feature_columns, model_dir: see DNNEstimator.
        label_dimension: how many numbers an example has.
        weight_column: the feature with the weights of examples.
        optimizer, activation_fn, dropout, input_layer_partitioner, config, warm_start_from: see DNNEstimator.
        loss_reduction: how the losses of examples become one.
        batch_norm: see DNNEstimator.
    """

    def __init__(
        self,
        hidden_units: Sequence[int],
        feature_columns: FeatureColumns | None,
        model_dir: str | os.PathLike[str] | None = None,
        label_dimension: int = 1,
        weight_column: str | NumericColumn | None = None,
        optimizer: OptimizerLike = "Adagrad",
        activation_fn: Activation | None = relu,
        dropout: float | None = None,
        input_layer_partitioner: Partitioner | None = None,
        config: RunConfig | None = None,
        warm_start_from: str | WarmStartSettings | None = None,
        loss_reduction: str = Reduction.SUM,
        batch_norm: bool = False,
    ) -> None:
        head = RegressionHead(weight_column, label_dimension, loss_reduction)
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config,
            warm_start_from, batch_norm,
        )  # fmt: skip


def check_features(features: Features) -> None:
    """Raise ValueError unless features are tensors by name."""
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: {type(features)}. Columns find theirs by name: "
            f"{{'x': tensor}}.{' Does the input_fn lack its `return`?' if features is None else ''}"
        )


def input_partitioner(config: RunConfig) -> Partitioner:
    """Cuts large tables of columns over the parameter servers."""
    return min_max_variable_partitioner(max_partitions=config.num_ps_replicas, min_slice_size=INPUT_SLICE_BYTES)


def _dense(inputs: Tensor, units: int, activation: Activation | None, scope: VariableScope) -> Tensor:
    outputs = Dense(units, activation, kernel_initializer=GlorotUniform(), name=scope.name, _scope=scope)(inputs)
    # TensorFlow's variables are resources, here and below; later random nodes get their seeds by the count.
    get_default_graph().node_count.total += 4
    return outputs


def summarize(value: Tensor, tag: str) -> None:
    """Summaries of a layer's results: how many are 0, and how they lie.

    Args:
        value: the results.
        tag: the first part of the summaries' tags, the layer's scope.
    """
    scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}/activation", value)

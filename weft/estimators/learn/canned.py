"""contrib.learn's canned estimators over feature columns: linear models, networks, both together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weft.estimators.aliases import Features, InputFn, Labels
from weft.estimators.canned.optimizers import OptimizerLike, get_optimizer_instance
from weft.estimators.learn.ascent import ascended
from weft.estimators.learn.column_layers import side_by_side, weighted_sums
from weft.estimators.learn.estimator import BaseEstimator
from weft.estimators.learn.keys import PredictionKey
from weft.estimators.learn.model_fn_ops import ModeKeys, ModelFnOps
from weft.estimators.learn.tasks import Classes, Numbers
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import Activation, Nest
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.models.feature_columns.column import FeatureColumn
from weft.models.functional.layer_functions import fully_connected
from weft.models.functional.weightless_layers import dropout
from weft.models.sdca.sdca_optimizer import SDCAOptimizer
from weft.ops.control_flow.ordering import group
from weft.ops.math.clip import clip_by_global_norm
from weft.ops.nn.activation import relu
from weft.ops.nn.norm import zero_fraction
from weft.ops.summary.nodes import histogram, scalar
from weft.ops.variables.assign import assign_add
from weft.ops.variables.partitioners import min_max_variable_partitioner
from weft.ops.variables.variable_scope import variable_scope
from weft.training.training_util import get_global_step

_INPUT_SLICE_BYTES = 64 << 20
_DNN_LEARNING_RATE = 0.05
_LINEAR_LEARNING_RATE = 0.2
_FeatureFn = Callable[[Features, Labels], tuple[Features, Labels]]


class _ColumnEstimator(BaseEstimator):
    """A linear model, a network, or both, for a task.

    Args:
        task: the task.
        wide: the linear model's columns.
        deep: the network's columns.
        hidden_units: the sizes of its hidden layers.
        activation_fn: of these layers.
        dropout: the share of a layer's outputs that training drops; None for none.
        linear_optimizer, dnn_optimizer: an Optimizer, its name or a function that makes it, for each.
        gradient_clip_norm: the largest norm of the gradients of a part; None for any.
        model_dir, config: see BaseEstimator.
        feature_engineering_fn: makes features and labels of the input's.

    Raises:
        ValueError: there are no columns, or a network has no hidden layers.
    """

    def __init__(
        self,
        task: Classes | Numbers,
        wide: Iterable[FeatureColumn] | None,
        deep: Iterable[FeatureColumn] | None,
        hidden_units: Sequence[int] | None,
        activation_fn: Activation | None,
        dropout: float | None,
        linear_optimizer: OptimizerLike | SDCAOptimizer | None,
        dnn_optimizer: OptimizerLike | None,
        gradient_clip_norm: float | None,
        model_dir: str | None,
        config: RunConfig | None,
        feature_engineering_fn: _FeatureFn | None,
    ) -> None:
        super().__init__(model_dir, config)
        self._task = task
        self._wide, self._deep = tuple(wide or ()), tuple(deep or ())
        if not self._wide and not self._deep:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        if self._deep and not hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        self._hidden_units = list(hidden_units or ())
        self._activation_fn = activation_fn
        self._dropout = dropout
        self._ascent = linear_optimizer if isinstance(linear_optimizer, SDCAOptimizer) else None
        if self._ascent is not None and self._deep:
            raise ValueError("SDCAOptimizer trains a linear model alone: a network beside it needs another linear_optimizer.")
        self._optimizers = {
            "linear": "Ftrl" if isinstance(linear_optimizer, SDCAOptimizer) else linear_optimizer or "Ftrl",
            "dnn": dnn_optimizer or "Adagrad",
        }
        self._gradient_clip_norm = gradient_clip_norm
        self._feature_engineering_fn = feature_engineering_fn

    def _build(self, features: Features, labels: Labels, mode: str, config: RunConfig) -> ModelFnOps:
        if self._feature_engineering_fn is not None:
            features, labels = self._feature_engineering_fn(features, labels)
        named = dict(features) if isinstance(features, dict) else {"": features}
        if self._ascent is not None:
            return ascended(self._task, self._wide, self._ascent, self._task.weight_column_name, named, labels, mode)
        parts: dict[str, Tensor] = {}
        if self._deep:
            parts["dnn"] = self._network(named, mode, config)
        if self._wide:
            parts["linear"] = self._linear(named, config)
        found = list(parts.values())
        logits = found[0] if len(found) == 1 else found[0] + found[1]
        predictions = self._task.predictions(logits)
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, predictions)
        made = self._task.loss(named, logits, labels)
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, predictions, made.loss, eval_metric_ops=self._task.metrics(predictions, made))
        return ModelFnOps(mode, predictions, made.loss, self._train_op(made.loss, list(parts)))

    def _linear(self, features: dict[str, Any], config: RunConfig) -> Tensor:
        cut = min_max_variable_partitioner(max_partitions=config.num_ps_replicas, min_slice_size=_INPUT_SLICE_BYTES)
        with variable_scope("linear", values=tuple(features.values()), partitioner=cut) as scope:
            return weighted_sums(features, self._wide, self._task.logits_dimension, "linear", scope)

    def _network(self, features: dict[str, Any], mode: str, config: RunConfig) -> Tensor:
        parts = config.num_ps_replicas
        cut = min_max_variable_partitioner(max_partitions=parts, min_slice_size=_INPUT_SLICE_BYTES)
        whole = min_max_variable_partitioner(max_partitions=parts)
        with variable_scope("dnn", values=tuple(features.values()), partitioner=whole):
            with variable_scope("input_from_feature_columns", partitioner=cut) as scope:
                outputs = side_by_side(features, self._deep, "dnn", scope)
            for number, size in enumerate(self._hidden_units):
                with variable_scope(f"hiddenlayer_{number}") as scope:
                    outputs = self._layer(outputs, size, self._activation_fn, scope)
                    if self._dropout is not None and mode == ModeKeys.TRAIN:
                        outputs = dropout(outputs, keep_prob=1.0 - self._dropout)
                _summarize(outputs, scope.name)
            with variable_scope("logits") as scope:
                logits = self._layer(outputs, self._task.logits_dimension, None, scope)
            _summarize(logits, scope.name)
        return logits

    def _layer(self, inputs: Tensor, units: int, activation: Activation | None, scope: Nest) -> Tensor:
        return fully_connected(inputs, units, activation_fn=activation, variables_collections=["dnn"], scope=scope)

    def _train_op(self, loss: Tensor, parts: Sequence[str]) -> Operation:
        graph = get_default_graph()
        updates = []
        for part in parts:
            variables = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, f"{part}/")
            optimizer = get_optimizer_instance(self._optimizers[part], self._learning_rate(part))
            pairs = [pair for pair in optimizer.compute_gradients(loss, var_list=variables) if pair[0] is not None]
            if self._gradient_clip_norm is not None:
                clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], self._gradient_clip_norm)
                pairs = [(gradient, variable) for gradient, (_, variable) in zip(clipped, pairs, strict=True)]
            updates.append(optimizer.apply_gradients(pairs))
        with graph.control_dependencies([group(*updates)]):
            return assign_add(get_global_step(), 1).op

    def _learning_rate(self, part: str) -> float:
        if part == "dnn":
            return _DNN_LEARNING_RATE
        return min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(self._wide)))

    def _one(self, key: str, x: Nest, input_fn: InputFn | None, batch_size: int | None, as_iterable: bool) -> Any:
        found = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return (each[key] for each in found) if as_iterable else found[key]


class _Classifier(_ColumnEstimator):
    """The predictions of classes."""

    def predict(
        self, x: Nest = None, input_fn: InputFn | None = None, batch_size: int | None = None,
        outputs: Sequence[str] | None = None, as_iterable: bool = True, iterate_batches: bool = False,
    ) -> Any:  # fmt: skip
        """The classes' numbers, or the outputs that are asked for; see `BaseEstimator.predict`."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)
        return self.predict_classes(x, input_fn, batch_size, as_iterable)

    def predict_classes(
        self, x: Nest = None, input_fn: InputFn | None = None, batch_size: int | None = None, as_iterable: bool = True
    ) -> Any:
        """The classes' numbers; the arguments are those of `predict`.

        Args:
            x: the features, as an array; or `input_fn` in its place.
            input_fn: a function that makes the features.
            batch_size: rows at a time; all when None.
            as_iterable: whether the results come one by one, as from a generator, or as one array.
        """
        return self._one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self, x: Nest = None, input_fn: InputFn | None = None, batch_size: int | None = None, as_iterable: bool = True
    ) -> Any:
        """The probabilities of all classes; the arguments are those of `predict`.

        Args:
            x: the features, as an array; or `input_fn` in its place.
            input_fn: a function that makes the features.
            batch_size: rows at a time; all when None.
            as_iterable: whether the results come one by one, as from a generator, or as one array.
        """
        return self._one(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class _Regressor(_ColumnEstimator):
    """The predictions of numbers."""

    def predict(
        self, x: Nest = None, input_fn: InputFn | None = None, batch_size: int | None = None,
        outputs: Sequence[str] | None = None, as_iterable: bool = True, iterate_batches: bool = False,
    ) -> Any:  # fmt: skip
        """The numbers, or the outputs that are asked for; see `BaseEstimator.predict`."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)
        return self.predict_scores(x, input_fn, batch_size, as_iterable)

    def predict_scores(
        self, x: Nest = None, input_fn: InputFn | None = None, batch_size: int | None = None, as_iterable: bool = True
    ) -> Any:
        """The numbers; the arguments are those of `predict`.

        Args:
            x: the features, as an array; or `input_fn` in its place.
            input_fn: a function that makes the features.
            batch_size: rows at a time; all when None.
            as_iterable: whether the results come one by one, as from a generator, or as one array.
        """
        return self._one(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)


class LinearClassifier(_Classifier):
    """A linear model that tells classes.

    Args:
        feature_columns: columns of tf.feature_column or of contrib.layers; its `optimizer` may be an
            SDCAOptimizer, too, and is "Ftrl" when None.
        model_dir, config: see BaseEstimator.
        n_classes: how many classes there are; labels are their numbers.
        weight_column_name: the feature with the weights of examples.
        optimizer, gradient_clip_norm, feature_engineering_fn: see the other estimators here.
    """

    def __init__(
        self, feature_columns: Iterable[FeatureColumn], model_dir: str | None = None, n_classes: int = 2,
        weight_column_name: str | None = None, optimizer: OptimizerLike | SDCAOptimizer | None = None,
        gradient_clip_norm: float | None = None, config: RunConfig | None = None,
        feature_engineering_fn: _FeatureFn | None = None,
    ) -> None:  # fmt: skip
        task = Classes(n_classes, weight_column_name)
        super().__init__(
            task, feature_columns, None, None, None, None, optimizer, None, gradient_clip_norm, model_dir, config,
            feature_engineering_fn,
        )  # fmt: skip


class LinearRegressor(_Regressor):
    """A linear model that tells numbers.

    Args:
        feature_columns, model_dir, weight_column_name, optimizer, gradient_clip_norm, config, feature_engineering_fn: see
            LinearClassifier.
        label_dimension: how many numbers an example has.
    """

    def __init__(
        self, feature_columns: Iterable[FeatureColumn], model_dir: str | None = None,
        weight_column_name: str | None = None, optimizer: OptimizerLike | SDCAOptimizer | None = None,
        gradient_clip_norm: float | None = None, label_dimension: int = 1, config: RunConfig | None = None,
        feature_engineering_fn: _FeatureFn | None = None,
    ) -> None:  # fmt: skip
        task = Numbers(label_dimension, weight_column_name)
        super().__init__(
            task, feature_columns, None, None, None, None, optimizer, None, gradient_clip_norm, model_dir, config,
            feature_engineering_fn,
        )  # fmt: skip


class DNNClassifier(_Classifier):
    """A feed-forward network that tells classes.

    Args:
        hidden_units: the sizes of the hidden layers.
        feature_columns: columns of tf.feature_column or of contrib.layers.
        model_dir, config: see BaseEstimator.
        n_classes: how many classes there are; labels are their numbers.
        weight_column_name: the feature with the weights of examples.
        optimizer: an Optimizer, its name or a function that makes it; "Adagrad" when None.
        activation_fn: of the hidden layers.
        dropout: the share of a layer's outputs that training drops; None for none.
        gradient_clip_norm: the largest norm of the gradients; None for any.
        feature_engineering_fn: makes features and labels of the input's.
    """

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Iterable[FeatureColumn], model_dir: str | None = None,
        n_classes: int = 2, weight_column_name: str | None = None, optimizer: OptimizerLike | None = None,
        activation_fn: Activation | None = relu, dropout: float | None = None, gradient_clip_norm: float | None = None,
        config: RunConfig | None = None, feature_engineering_fn: _FeatureFn | None = None,
    ) -> None:  # fmt: skip
        task = Classes(n_classes, weight_column_name)
        super().__init__(
            task, None, feature_columns, hidden_units, activation_fn, dropout, None, optimizer, gradient_clip_norm,
            model_dir, config, feature_engineering_fn,
        )  # fmt: skip


class DNNRegressor(_Regressor):
    """A feed-forward network that tells numbers.

    Args:
        hidden_units, feature_columns, model_dir, weight_column_name, optimizer, activation_fn, dropout, gradient_clip_norm,
            config, feature_engineering_fn: see DNNClassifier.
        label_dimension: how many numbers an example has.
    """

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Iterable[FeatureColumn], model_dir: str | None = None,
        weight_column_name: str | None = None, optimizer: OptimizerLike | None = None,
        activation_fn: Activation | None = relu, dropout: float | None = None, gradient_clip_norm: float | None = None,
        config: RunConfig | None = None, feature_engineering_fn: _FeatureFn | None = None, label_dimension: int = 1,
    ) -> None:  # fmt: skip
        task = Numbers(label_dimension, weight_column_name)
        super().__init__(
            task, None, feature_columns, hidden_units, activation_fn, dropout, None, optimizer, gradient_clip_norm,
            model_dir, config, feature_engineering_fn,
        )  # fmt: skip


class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and a feed-forward network that tell classes together.

    Args:
        model_dir: the folder of checkpoints and summaries.
        n_classes: the number of classes.
        weight_column_name: the feature with the examples' weights; 1 when None.
        linear_feature_columns, dnn_feature_columns: the columns of the two parts; one may be None.
        linear_optimizer, dnn_optimizer: their optimizers; Ftrl and Adagrad when None.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn: the hidden layers' activation.
        dnn_dropout: the part of hidden outputs that is dropped in training; none when None.
        gradient_clip_norm: the greatest norm of the gradients together; any when None.
        config: a RunConfig.
        feature_engineering_fn: a function of features and labels that gives both, changed.
        fix_global_step_increment_bug: kept; the global step is counted once per step.
    """

    def __init__(
        self, model_dir: str | None = None, n_classes: int = 2, weight_column_name: str | None = None,
        linear_feature_columns: Iterable[FeatureColumn] | None = None, linear_optimizer: OptimizerLike | None = None,
        dnn_feature_columns: Iterable[FeatureColumn] | None = None, dnn_optimizer: OptimizerLike | None = None,
        dnn_hidden_units: Sequence[int] | None = None, dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None, config: RunConfig | None = None,
        feature_engineering_fn: _FeatureFn | None = None, fix_global_step_increment_bug: bool = True,
    ) -> None:  # fmt: skip
        task = Classes(n_classes, weight_column_name)
        super().__init__(
            task, linear_feature_columns, dnn_feature_columns, dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            linear_optimizer, dnn_optimizer, gradient_clip_norm, model_dir, config, feature_engineering_fn,
        )  # fmt: skip


class DNNLinearCombinedRegressor(_Regressor):
    """A linear model and a feed-forward network that tell numbers together.

    Args:
        model_dir: the folder of checkpoints and summaries.
        weight_column_name: the feature with the examples' weights; 1 when None.
        linear_feature_columns, dnn_feature_columns: the columns of the two parts; one may be None.
        linear_optimizer, dnn_optimizer: their optimizers; Ftrl and Adagrad when None.
        dnn_hidden_units: the sizes of the hidden layers.
        dnn_activation_fn: the hidden layers' activation.
        dnn_dropout: the part of hidden outputs that is dropped in training; none when None.
        gradient_clip_norm: the greatest norm of the gradients together; any when None.
        label_dimension: how many numbers an example has.
        config: a RunConfig.
        feature_engineering_fn: a function of features and labels that gives both, changed.
        fix_global_step_increment_bug: kept; the global step is counted once per step.
    """

    def __init__(
        self, model_dir: str | None = None, weight_column_name: str | None = None,
        linear_feature_columns: Iterable[FeatureColumn] | None = None, linear_optimizer: OptimizerLike | None = None,
        dnn_feature_columns: Iterable[FeatureColumn] | None = None, dnn_optimizer: OptimizerLike | None = None,
        dnn_hidden_units: Sequence[int] | None = None, dnn_activation_fn: Activation | None = relu,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None, label_dimension: int = 1,
        config: RunConfig | None = None, feature_engineering_fn: _FeatureFn | None = None,
        fix_global_step_increment_bug: bool = True,
    ) -> None:  # fmt: skip
        task = Numbers(label_dimension, weight_column_name)
        super().__init__(
            task, linear_feature_columns, dnn_feature_columns, dnn_hidden_units, dnn_activation_fn, dnn_dropout,
            linear_optimizer, dnn_optimizer, gradient_clip_norm, model_dir, config, feature_engineering_fn,
        )  # fmt: skip


def _summarize(value: Tensor, tag: str) -> None:
    scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    histogram(f"{tag}/activation", value)

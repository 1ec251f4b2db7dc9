"""Heads of time series: training, evaluation, prediction and export of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

from weft.estimators.aliases import Labels, MetricOps
from weft.estimators.canned.keys import MetricKeys
from weft.estimators.estimator_spec import EstimatorSpec
from weft.estimators.export.export_output import ExportOutput, PredictOutput
from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest
from weft.framework.composites.sparse_tensor import convert_to_tensor_or_sparse_tensor
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.printed import printed
from weft.models.metrics.mean import mean
from weft.networks.time_series.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from weft.networks.time_series.model import ModelOutputs, TimeSeriesModel
from weft.networks.time_series.state_management import PassthroughStateManager
from weft.networks.time_series.statistics import InputStatisticsFromMiniBatch
from weft.ops.array.filling import zeros
from weft.ops.array.shape_ops import shape
from weft.ops.control_flow.ordering import group
from weft.ops.math.casting import cast
from weft.ops.summary.nodes import scalar
from weft.ops.variables.assign import assign
from weft.ops.variables.variable import Variable
from weft.ops.variables.variable_scope import variable_scope
from weft.training.optimizers.optimizer import Optimizer
from weft.training.training_util import get_global_step

_FLAT_STATE: Final = re.compile(rf"{State.STATE_PREFIX}_(\d+)")


class _StatelessOutput(PredictOutput):
    """An output whose signature takes no state."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Tensor]) -> SignatureDef:
        """The signature, of the tensors that it takes."""
        taken = {key: value for key, value in receiver_tensors.items() if not key.startswith(State.STATE_PREFIX)}
        return super().as_signature_def(taken)


class TimeSeriesRegressionHead:
    """Makes EstimatorSpecs of a model of series.

    Args:
        model: the model.
        state_manager: tells with which state a batch begins.
        optimizer: trains the model.
        input_statistics_generator: gathers what is known of the series; None to take values as they are.
        name: the head's name.
    """

    __repr__ = printed("tf.contrib.timeseries")

    def __init__(
        self, model: TimeSeriesModel, state_manager: PassthroughStateManager, optimizer: Optimizer,
        input_statistics_generator: InputStatisticsFromMiniBatch | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        """The head's name."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """1."""
        return 1

    def create_loss(self, features: dict[str, Nest], mode: str, logits: Nest = None, labels: Labels = None) -> ModelOutputs:
        """What the model gives for a batch, with a summary of its loss.

        Args:
            features: the batch.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.
            logits, labels: not looked at.

        Returns:
            The ModelOutputs.
        """
        outputs = self.state_manager.define_loss(self.model, features, mode)
        scalar(MetricKeys.LOSS if self._name is None else f"{MetricKeys.LOSS}/{self._name}", outputs.loss)
        return outputs

    def create_estimator_spec(self, features: Mapping[str, Nest], mode: str, labels: Labels = None) -> EstimatorSpec:
        """The EstimatorSpec of a mode; it is an estimator's model function.

        Args:
            features: times and values, to predict times and a state, and exogenous features.
            mode: one of `tf.estimator.ModeKeys`.
            labels: have to be none.

        Returns:
            The EstimatorSpec.

        Raises:
            ValueError: there are labels, a feature is missing, or shapes do not fit.
        """
        with get_default_graph().name_scope(self._name or "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    f"The model received a `labels`, which is not supported. Pass '{TrainEvalFeatures.TIMES}' and "
                    f"'{TrainEvalFeatures.VALUES}' as features."
                )
            given = {name: self._as_tensor(name, value) for name, value in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(given, update_statistics=mode == ModeKeys.TRAIN)
            self.model.initialize_graph(input_statistics=statistics)
            given, is_flat = self._with_state(given)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                _check_train_eval_features(given, self.model)
            elif mode == ModeKeys.PREDICT:
                self._check_predict_features(given)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == ModeKeys.TRAIN:
                return self._train_ops(given)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(given)
            # A flat state is that of an export, which has signatures to filter and to predict.
            return self._serving_ops(given) if is_flat else self._predict_ops(given)

    def _train_ops(self, features: dict[str, Nest]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, global_step=get_global_step())
        return EstimatorSpec(ModeKeys.TRAIN, loss=outputs.loss, train_op=train_op)

    def _evaluate_ops(self, features: dict[str, Nest]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.EVAL)
        metrics: MetricOps = {name: _latest(name, value) for name, value in outputs.predictions.items()}
        metrics[FilteringResults.TIMES] = _latest(FilteringResults.TIMES, outputs.prediction_times)
        metrics[FilteringResults.STATE_TUPLE] = _latest_state(FilteringResults.STATE_TUPLE, outputs.end_state)
        metrics[MetricKeys.LOSS_MEAN] = mean(outputs.loss, name="average_loss")
        return EstimatorSpec(ModeKeys.EVAL, outputs.predictions, outputs.loss, eval_metric_ops=metrics)

    def _predict_ops(self, features: dict[str, Nest]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        predictions[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
        return EstimatorSpec(ModeKeys.PREDICT, predictions)

    def _serving_ops(self, features: dict[str, Nest]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            predicted = self.model.predict(features=features)
        with variable_scope("model", reuse=True):
            filtered = self.create_loss(features, ModeKeys.EVAL)
        with variable_scope("model", reuse=True):
            stateless = {key: value for key, value in features.items() if not key.startswith(State.STATE_PREFIX)}
            cold = self.model.define_loss(features=stateless, mode=ModeKeys.EVAL)
        outputs: dict[str, ExportOutput] = {
            SavedModelLabels.PREDICT: PredictOutput(predicted),
            SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
            SavedModelLabels.COLD_START_FILTER: _StatelessOutput(state_to_dictionary(cold.end_state)),
        }
        return EstimatorSpec(ModeKeys.PREDICT, {}, export_outputs=outputs)

    def _as_tensor(self, name: str, value: Nest) -> Nest:
        if name == TrainEvalFeatures.TIMES:
            return cast(value, dtypes.int64)
        if name == TrainEvalFeatures.VALUES:
            return cast(value, self.model.dtype)
        # What types a state has, the model knows.
        return value if name == PredictionFeatures.STATE_TUPLE else convert_to_tensor_or_sparse_tensor(value)

    def _with_state(self, features: dict[str, Nest]) -> tuple[dict[str, Nest], bool]:
        """The features with a flat state made a tuple, and whether there was one."""
        found = {key: _FLAT_STATE.fullmatch(key) for key in features}
        numbered = sorted((int(match[1]), key) for key, match in found.items() if match is not None)
        if not numbered:
            return features, False
        rest = {key: value for key, value in features.items() if found[key] is None}
        parts = [features[key] for _, key in numbered]
        rest[State.STATE_TUPLE] = nest.pack_sequence_as(self.model.get_start_state(), parts)
        return rest, True

    def _check_predict_features(self, features: Mapping[str, Nest]) -> None:
        _check_present(features, (PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE), "prediction")
        _check_times(features)
        _check_windows(features, {PredictionFeatures.STATE_TUPLE})


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose export has one signature without state: values that are known, and more times, give predictions.

    Args:
        model, state_manager, optimizer, input_statistics_generator, name: see TimeSeriesRegressionHead.
    """

    def _check_predict_features(self, features: Mapping[str, Nest]) -> None:
        needed = (PredictionFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE)
        _check_present(features, needed, "prediction")
        _check_times(features)
        # There are fewer values than times.
        _check_windows(features, {PredictionFeatures.STATE_TUPLE, TrainEvalFeatures.VALUES})

    def _evaluate_ops(self, features: dict[str, Nest]) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[State.STATE_TUPLE]
        return spec

    def _serving_ops(self, features: dict[str, Nest]) -> EstimatorSpec:
        with variable_scope("model", use_resource=True):
            length = shape(features[FilteringFeatures.VALUES])[1]
            given = {key: value for key, value in features.items() if key != State.STATE_TUPLE}
            known = {key: value if key == FilteringFeatures.VALUES else value[:, :length] for key, value in given.items()}
            wanted = {key: value[:, length:] for key, value in given.items() if key != FilteringFeatures.VALUES}
            cold = self.model.define_loss(features=known, mode=ModeKeys.EVAL)
        with variable_scope("model", reuse=True):
            predicted = self.model.predict(features={**wanted, State.STATE_TUPLE: cold.end_state})
        outputs: dict[str, ExportOutput] = {SavedModelLabels.PREDICT: _StatelessOutput(predicted)}
        return EstimatorSpec(ModeKeys.PREDICT, {}, export_outputs=outputs)


def state_to_dictionary(state_tuple: Nest) -> dict[str, Nest]:
    """A state as tensors or arrays by name.

    Args:
        state_tuple: the state.
    """
    return {f"{State.STATE_PREFIX}_{number:02d}": value for number, value in enumerate(nest.flatten(state_tuple))}


def _check_present(features: Mapping[str, Nest], names: Iterable[str], what: str) -> None:
    for name in names:
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for {what}. There are {sorted(features)}.")


def _check_times(features: Mapping[str, Nest]) -> None:
    found = features[TrainEvalFeatures.TIMES].get_shape()
    if not found.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{TrainEvalFeatures.TIMES}' (got shape {found})"
        )


def _check_train_eval_features(features: Mapping[str, Nest], model: TimeSeriesModel) -> None:
    _check_present(features, (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES), "training/evaluation")
    _check_times(features)
    found = features[TrainEvalFeatures.VALUES].get_shape()
    if not found.is_compatible_with([None, None, model.num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for feature '{TrainEvalFeatures.VALUES}', "
            f"since the model was configured with num_features={model.num_features} (got shape {found})"
        )
    _check_windows(features, {State.STATE_TUPLE})


def _check_windows(features: Mapping[str, Nest], others: set[str]) -> None:
    """Refuse features of other batches or windows than the times have."""
    times = features[TrainEvalFeatures.TIMES].get_shape()
    for name, value in features.items():
        if name in others or value.get_shape().ndims is None:
            continue
        found = value.get_shape()
        if found.ndims < 2:
            raise ValueError(
                f"Features must have shape (batch dimension, window size, ...) (got rank {found.ndims} for feature '{name}')"
            )
        if not found[:2].is_compatible_with(times):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch dimension and window size match the "
                f"'{TrainEvalFeatures.TIMES}' feature (got shape {found} for feature '{name}' but shape {times} for feature "
                f"'{TrainEvalFeatures.TIMES}')"
            )


def _latest(name: str, value: Tensor) -> tuple[Tensor, Tensor]:
    """A metric that is the value of the last batch."""
    kept = Variable(
        zeros([], dtype=value.dtype), collections=[GraphKeys.LOCAL_VARIABLES], validate_shape=False,
        name=f"{name}_identity_metric",
    )  # fmt: skip
    update = assign(kept, value, validate_shape=False)
    latest = kept.value()
    latest.set_shape(value.get_shape())
    return latest, update


def _latest_state(name: str, state: Nest) -> tuple[Nest, Nest]:
    each = [_latest(f"{name}_{number}", value) for number, value in enumerate(nest.flatten(state))]
    return nest.pack_sequence_as(state, [value for value, _ in each]), group(*(update for _, update in each))

"""SequentialTimeSeriesModel: a model that goes through a series time by time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from weft.framework.building.aliases import DTypeLike, Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.models.feature_columns.column import FeatureColumn
from weft.networks.time_series.feature_keys import PredictionFeatures, TrainEvalFeatures
from weft.networks.time_series.model import ModelOutputs, TimeSeriesModel
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros
from weft.ops.array.joining import concat
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import rank, shape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less
from weft.ops.math.reduce_functions import reduce_prod, reduce_sum
from weft.ops.variables.variable_scope import variable_scope

_Step: TypeAlias = Callable[[Tensor, Tensor, Nest], tuple[Nest, dict[str, Tensor]]]
_KNOWN = (PredictionFeatures.STATE_TUPLE, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES)


class _Steps(Protocol):
    """What the steps of a loop give, one after the other."""

    def write(self, index: Tensor, value: Tensor) -> _Steps:
        """The steps with one more."""
        ...

    def stack(self, name: str | None = None) -> Tensor:
        """All steps, `[steps, ...]`."""
        ...


class _Listed:
    """The steps of a loop that is written out."""

    def __init__(self) -> None:
        self._values: list[Tensor] = []

    def write(self, index: Tensor, value: Tensor) -> _Listed:
        """The steps with one more."""
        self._values.append(value)
        return self

    def stack(self, name: str | None = None) -> Tensor:
        """All steps, `[steps, ...]`."""
        return stack(self._values)


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model whose state goes from time to time.

    A subclass defines `get_start_state`, `_filtering_step`, `_prediction_step`, `_imputation_step` and `_exogenous_input_step`.

    Args:
        train_output_names: the names of what `_filtering_step` gives beside the loss.
        predict_output_names: the names of what `_prediction_step` gives.
        num_features: how many values each time has.
        normalize_features: whether values come scaled by what is known of the series; the model then defines
            `_scale_back_predictions`.
        dtype: the floating type of values.
        exogenous_feature_columns: columns of features that are given and not predicted.
        exogenous_update_condition: a function of `times` and `features` that tells which series of a batch take exogenous
            features at a time; all when None.
        static_unrolling_window_size_threshold: windows of a known length up to this are written out step by step; None to loop.
    """

    def __init__(
        self, train_output_names: Sequence[str], predict_output_names: Sequence[str], num_features: int,
        normalize_features: bool = False, dtype: DTypeLike = dtypes.float32,
        exogenous_feature_columns: Sequence[FeatureColumn] | None = None,
        exogenous_update_condition: Callable[..., Tensor] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = list(train_output_names)
        self._predict_output_names = list(predict_output_names)
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    def _scale_back_predictions(self, predictions: dict[str, Tensor]) -> dict[str, Tensor]:
        """Predictions in the scale of the input, of those in the scale of the model."""
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no method was provided to "
            f"transform the predictions back to the input scale: define _scale_back_predictions in {type(self).__name__}."
        )

    def _filtering_step(
        self, current_times: Tensor, current_values: Tensor, state: Nest, predictions: dict[str, Tensor]
    ) -> tuple[Nest, dict[str, Tensor]]:
        """The state that has seen the values of a time, and the outputs, `loss` `[batch]` among them."""
        raise NotImplementedError(f"_filtering_step is not implemented for {type(self).__name__}.")

    def _prediction_step(self, current_times: Tensor, state: Nest) -> tuple[Nest, dict[str, Tensor]]:
        """The state at a time that comes next, and the predictions for it."""
        raise NotImplementedError(f"_prediction_step is not implemented for {type(self).__name__}.")

    def _imputation_step(self, current_times: Tensor, state: Nest) -> Nest:
        """The state just before a time, across times that are missing."""
        raise NotImplementedError(f"_imputation_step is not implemented for {type(self).__name__}.")

    def _exogenous_input_step(self, current_times: Tensor, current_exogenous_regressors: Tensor, state: Nest) -> Nest:
        """The state that has seen the exogenous features of a time."""
        raise NotImplementedError(f"_exogenous_input_step is not implemented for {type(self).__name__}.")

    def _loss_additions(self, times: Tensor, values: Tensor, mode: str) -> TensorLike:
        """What is added to the loss of a window, such as penalties."""
        return 0.0

    def _window_initializer(self, times: Tensor, state: Nest) -> None:
        """Called before a window is gone through."""

    def get_batch_loss(self, features: Mapping[str, Tensor], mode: str, state: Nest) -> ModelOutputs:
        """The loss of a batch; see `TimeSeriesModel.get_batch_loss`.

        Args:
            features: times, values and exogenous features of the batch.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.
            state: the state before the batch.

        Returns:
            The ModelOutputs.
        """
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        last = nest.pack_sequence_as(states, [part[:, -1] for part in nest.flatten(states)])
        outputs["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(loss, last, outputs, features[TrainEvalFeatures.TIMES])

    def _apply_exogenous_update(
        self, current_times: Tensor, step_number: Tensor, state: Nest, raw_features: Mapping[str, Tensor],
        embedded_exogenous_regressors: Tensor | None,
    ) -> Nest:  # fmt: skip
        """The state with the exogenous features of a time, of those series that take them."""
        if embedded_exogenous_regressors is None:
            return state
        updated = self._exogenous_input_step(
            current_times=current_times, current_exogenous_regressors=embedded_exogenous_regressors[:, step_number, :],
            state=state,
        )  # fmt: skip
        if self._exogenous_update_condition is None:
            return updated
        given = {key: value[:, step_number] for key, value in raw_features.items() if key not in _KNOWN}
        parts = [
            where(self._exogenous_update_condition(times=current_times, features=given), new, old)
            for new, old in zip(nest.flatten(updated), nest.flatten(state), strict=True)
        ]
        return nest.pack_sequence_as(state, parts)

    def per_step_batch_loss(
        self, features: Mapping[str, Tensor], mode: str, state: Nest
    ) -> tuple[Tensor, Nest, dict[str, Tensor]]:
        """The loss of a batch, with the state after each time.

        Args:
            features: times, values and exogenous features of the batch.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.
            state: the state before the batch, `[batch, ...]` each.

        Returns:
            The mean loss of a value, the states `[batch, window, ...]`, and predictions by name.

        Raises:
            ValueError: `initialize_graph` has not been called.
        """
        self._check_graph_initialized()
        times = cast(features[TrainEvalFeatures.TIMES], dtype=dtypes.int64)
        values = cast(features[TrainEvalFeatures.VALUES], dtype=self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        known = (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES)
        exogenous = self._process_exogenous_features(
            times=times, features={key: value for key, value in features.items() if key not in known}
        )

        def step(step_number: Tensor, current_times: Tensor, state: Nest) -> tuple[Nest, dict[str, Tensor]]:
            current_values = values[:, step_number, :]
            state = self._apply_exogenous_update(current_times, step_number, state, features, exogenous)
            predicted, predictions = self._prediction_step(current_times=current_times, state=state)
            return self._filtering_step(
                current_times=current_times, current_values=current_values, state=predicted, predictions=predictions
            )

        states, outputs = self._state_update_loop(times, state, step, ["loss", *self._train_output_names])
        losses = outputs.pop("loss")
        losses.set_shape(times.get_shape())
        loss = reduce_sum(losses) / cast(reduce_prod(shape(times)), dtype=self.dtype)
        loss += self._loss_additions(times, values, mode)
        return loss, states, self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def predict(self, features: Mapping[str, Nest]) -> dict[str, Tensor]:
        """Predictions, time by time; see `TimeSeriesModel.predict`.

        Args:
            features: times, the state and exogenous features.

        Returns:
            Predictions by name, `[batch, window, ...]`.
        """
        times = convert_to_tensor(features[PredictionFeatures.TIMES], dtypes.int64)
        exogenous = self._process_exogenous_features(
            times=times,
            features={
                key: value
                for key, value in features.items()
                if key not in (PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE)
            },
        )

        def step(step_number: Tensor, current_times: Tensor, state: Nest) -> tuple[Nest, dict[str, Tensor]]:
            state = self._apply_exogenous_update(current_times, step_number, state, features, exogenous)
            return self._prediction_step(current_times=current_times, state=state)

        start = features[PredictionFeatures.STATE_TUPLE]
        _, predictions = self._state_update_loop(times, start, step, self._predict_output_names)
        return self._scale_back_predictions(predictions) if self._normalize_features else predictions

    def _state_update_loop(
        self, times: Tensor, state: Nest, state_update_fn: _Step, outputs: Sequence[str]
    ) -> tuple[Nest, dict[str, Tensor]]:
        """Go through the times of a window; gives the states after each, and outputs by name, `[batch, window, ...]`."""
        times = convert_to_tensor(times, dtype=dtypes.int64)
        length = times.shape[1].value
        threshold = self._static_unrolling_window_size_threshold
        is_written_out = threshold is not None and length is not None and length <= threshold
        self._window_initializer(times, state)
        window_size = shape(times)[1]

        def step(
            number: Tensor, state: Nest, states: Sequence[_Steps], collected: Sequence[_Steps], reuse: bool = False
        ) -> tuple[Tensor, Nest, list[_Steps], list[_Steps]]:
            with variable_scope("state_update_step", reuse=reuse):
                now = times[:, number]
                before = self._imputation_step(current_times=now, state=state)
                after, found = state_update_fn(number, now, before)
                _check_outputs(found, outputs)
                written = [each.write(number, found[name]) for name, each in zip(outputs, collected, strict=True)]
                parts = nest.flatten(after)
                for part, old in zip(parts, nest.flatten(before), strict=True):
                    part.set_shape(old.get_shape())
                kept = [each.write(number, part) for each, part in zip(states, parts, strict=True)]
                return number + 1, nest.pack_sequence_as(before, parts), kept, written

        def steps(dtype: DType) -> _Steps:
            return _Listed() if is_written_out else TensorArray(dtype=dtype, size=window_size, dynamic_size=False)

        given: Nest = [
            zeros([], dtypes.int32), state, [steps(part.dtype) for part in nest.flatten(state)],
            [steps(self.dtype) for _ in outputs],
        ]  # fmt: skip
        if is_written_out:
            for number in range(length or 0):
                _, before, states, collected = given
                given = step(constant(number, dtypes.int32), before, states, collected, reuse=number > 0)
        else:
            given = while_loop(cond=lambda number, *_: less(number, window_size), body=step, loop_vars=given)
        _, _, states, collected = given
        by_name = {name: _batch_first(each) for name, each in zip(outputs, collected, strict=True)}
        return nest.pack_sequence_as(state, [_batch_first(each) for each in states]), by_name


def _check_outputs(found: Mapping[str, Tensor], wanted: Sequence[str]) -> None:
    if set(found) != set(wanted):
        raise ValueError(
            f"A step of the model gives the outputs {sorted(found)}, but train_output_names or predict_output_names of its "
            f"constructor, with 'loss' where it filters, say {sorted(wanted)}"
        )


def _batch_first(steps: _Steps) -> Tensor:
    stacked = steps.stack()
    return transpose(stacked, perm=concat([[1, 0], range_of(2, rank(stacked))], 0))

"""The loops of autoregressive models: windows to come, each from the one before, and the windows of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.networks.time_series.feature_keys import TrainEvalFeatures
from weft.networks.time_series.model import ModelOutputs
from weft.ops.array.filling import ones_like
from weft.ops.array.joining import concat
from weft.ops.array.padding import pad
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack
from weft.ops.array.transposing import transpose
from weft.ops.control_flow.tensor_array import TensorArray
from weft.ops.control_flow.while_loop import while_loop
from weft.ops.debugging.checks import assert_equal, assert_greater_equal
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less, minimum
from weft.ops.math.reduce_functions import reduce_mean


class WindowModel(Protocol):
    """What the loops need of a model."""

    input_window_size: int
    output_window_size: int
    window_size: int
    num_features: int
    exogenous_size: int
    loss: str
    dtype: DType

    def prediction_ops(self, times: Tensor, values: Tensor | None, exogenous_regressors: Tensor | None) -> dict[str, Tensor]:
        """The predictions of a window."""
        ...

    def process_window(self, features: Mapping[str, Tensor], mode: str, exogenous_regressors: Tensor) -> ModelOutputs:
        """The loss and the predictions of a window."""
        ...

    def scaled(self, values: Tensor) -> Tensor:
        """Values in the scale of the model."""
        ...


class Extrapolation:
    """Predictions for times after a window, as many at once as the model predicts.

    Args:
        model: the model.
        times: `[batch, n] int32`.
        exogenous: their exogenous features, `[batch, n, exogenous]`.
    """

    def __init__(self, model: WindowModel, times: Tensor, exogenous: Tensor) -> None:
        self._model = model
        self._batch_size, self._wanted = shape(times)[0], shape(times)[1]
        step = model.output_window_size
        self._count = (self._wanted + step - 1) // step
        missing = self._count * step - self._wanted
        self._times = pad(times, [[0, 0], [0, missing]])
        self._exogenous = pad(exogenous, [[0, 0], [0, missing], [0, 0]])

    def run(self, state: Nest) -> dict[str, Tensor]:
        """The predictions, in the scale of the model: `mean` and `covariance`, `[batch, n, features]`.

        Args:
            state: times, values and exogenous features of the window before, or of more.
        """
        model = self._model
        times, values, exogenous = self._begin(state)
        has_variances = model.loss != "squared_loss"
        variances: Nest = TensorArray(dtype=model.dtype, size=self._count) if has_variances else 0.0

        def step(number: Tensor, times: Tensor, values: Tensor, exogenous: Tensor, means: TensorArray, variances: Nest) -> Nest:
            found = model.prediction_ops(times, values, exogenous)
            following = self._following(number, times, values, exogenous, found["mean"])
            written = variances.write(number, found["covariance"]) if has_variances else variances
            return (number + 1, *following, means.write(number, found["mean"]), written)

        means = TensorArray(dtype=model.dtype, size=self._count)
        *_, means, variances = while_loop(
            lambda number, *_: less(number, self._count), step, [0, times, values, exogenous, means, variances]
        )
        mean = self._joined(means)
        return {"mean": mean, "covariance": self._joined(variances) if has_variances else ones_like(mean)}

    def _begin(self, state: Nest) -> tuple[Tensor, Nest, Tensor]:
        model = self._model
        past_times, past_values, past_exogenous = state
        past_times = cast(convert_to_tensor(past_times), dtypes.int32)
        past_values = convert_to_tensor(past_values, dtype=model.dtype)
        past_exogenous = convert_to_tensor(past_exogenous, dtype=model.dtype)
        times, exogenous = self._times[:, : model.output_window_size], self._exogenous[:, : model.output_window_size, :]
        size = model.input_window_size
        if size == 0:
            return times, 0, exogenous
        times = concat([past_times[:, -size:], times], 1)
        length = shape(past_values)[1]
        checks = [assert_greater_equal(length, size), assert_equal(length, shape(past_times)[1])]
        with get_default_graph().control_dependencies(checks):
            values = past_values[:, -size:, :]
            return times, values, concat([past_exogenous[:, -size:, :], exogenous], axis=1)

    def _following(
        self, number: Tensor, times: Tensor, values: Tensor, exogenous: Tensor, mean: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Times, values and exogenous features of the step after one."""
        model = self._model
        known, step = model.input_window_size, model.output_window_size
        offset = step * minimum(number + 1, self._count - 1)
        end = offset + step
        if known == 0:
            next_times, next_values, next_exogenous = self._times[:, offset:end], values, self._exogenous[:, offset:end, :]
        elif step < known:
            next_values = concat([values[:, step:, :], mean], 1)
            next_exogenous = concat([exogenous[:, -known:, :], self._exogenous[:, offset:end, :]], axis=1)
            next_times = concat([times[:, -known:], self._times[:, offset:end]], 1)
        else:
            next_values = mean[:, -known:, :]
            next_exogenous, next_times = self._exogenous[:, offset - known : end, :], self._times[:, offset - known : end]
        next_times.set_shape(times.get_shape())
        next_exogenous.set_shape(exogenous.get_shape())
        return next_times, next_values, next_exogenous

    def _joined(self, steps: TensorArray) -> Tensor:
        length = self._count * self._model.output_window_size
        found = reshape(transpose(steps.stack(), [1, 0, 2, 3]), stack([self._batch_size, length, -1]))
        return found[:, : self._wanted, :]


def evaluate_windows(model: WindowModel, features: Mapping[str, Tensor], exogenous: Tensor, state: Nest) -> ModelOutputs:
    """The loss and the predictions of a longer window, of which as much is predicted as there are whole windows.

    Args:
        model: the model.
        features: times `[batch, n]`, values `[batch, n, features]`.
        exogenous: exogenous features, `[batch, n, exogenous]`.
        state: times, values and exogenous features of the window before.
    """
    times = features[TrainEvalFeatures.TIMES]
    count = (shape(times)[1] - model.input_window_size) // model.output_window_size
    length = count * model.output_window_size
    # What does not fill a window is left out at the beginning.
    first = -(length + model.input_window_size)
    used = {name: value[:, first:] for name, value in features.items()}
    used_exogenous = exogenous[:, first:]

    def step(number: Tensor, losses: TensorArray, means: TensorArray, variances: TensorArray) -> Nest:
        begin = number * model.output_window_size
        end = begin + model.window_size
        window = {name: value[:, begin:end] for name, value in used.items()}
        found = model.process_window(window, ModeKeys.EVAL, used_exogenous[:, begin:end])
        return (
            number + 1, losses.write(number, found.loss), means.write(number, found.predictions["mean"]),
            variances.write(number, found.predictions["covariance"]),
        )  # fmt: skip

    arrays = [TensorArray(dtype=model.dtype, size=count) for _ in range(3)]
    _, losses, means, variances = while_loop(lambda number, *_: number < count, step, [0, *arrays])
    values = cast(used[TrainEvalFeatures.VALUES], dtype=model.dtype)
    sizes: Nest = [shape(times)[0], length, model.num_features]
    predictions = {
        name: reshape(transpose(steps.stack(), [1, 0, 2, 3]), sizes)
        for name, steps in (("mean", means), ("covariance", variances))
    }
    end_state = _state_after(model, state, used[TrainEvalFeatures.TIMES], values, exogenous)
    return ModelOutputs(
        reduce_mean(losses.stack(), axis=0), end_state, {**predictions, "observed": values[:, -length:]},
        used[TrainEvalFeatures.TIMES][:, -length:],
    )  # fmt: skip


def _state_after(model: WindowModel, state: Nest, times: Tensor, values: Tensor, exogenous: Tensor) -> Nest:
    """The last window, of the state before where there is less."""
    size = model.input_window_size
    if size == 0:
        return state
    past_times, past_values, past_exogenous = state
    next_times = concat([past_times, cast(times, dtype=dtypes.int64)], axis=1)[:, -size:]
    next_times.set_shape((None, size))
    next_values = concat([past_values, model.scaled(values)], axis=1)[:, -size:, :]
    next_values.set_shape((None, size, model.num_features))
    next_exogenous = concat([past_exogenous, exogenous], axis=1)[:, -size:, :]
    next_exogenous.set_shape((None, size, model.exogenous_size))
    return next_times, next_values, next_exogenous

"""ARModel: predicts a window of a series from the window before, and from the times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from weft.estimators.mode_keys import ModeKeys
from weft.framework.building.aliases import Nest
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.feature_columns.column import FeatureColumn
from weft.networks.models.model import Model
from weft.networks.time_series.ar_loops import Extrapolation, evaluate_windows
from weft.networks.time_series.feature_keys import PredictionFeatures, TrainEvalFeatures
from weft.networks.time_series.likelihoods import cauchy_log_prob, normal_log_prob
from weft.networks.time_series.model import ModelOutputs, TimeSeriesModel
from weft.networks.time_series.prediction_models import FlatPredictionModel
from weft.networks.time_series.statistics import InputStatistics
from weft.ops.array.constant import constant
from weft.ops.array.filling import zeros, zeros_like
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat, split
from weft.ops.array.padding import slice_of
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import where_v2
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.debugging.checks import assert_equal
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.elementwise import squared_difference
from weft.ops.math.reduce_functions import reduce_prod, reduce_sum
from weft.ops.math.unary import exp, log, sqrt
from weft.ops.nn.activation import relu
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Zeros
from weft.ops.variables.variable_scope import variable_scope

ModelFactory: TypeAlias = Callable[..., Model]
_LEAST_VARIANCE: Final = 1e-5
_KNOWN = (TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, PredictionFeatures.STATE_TUPLE)


class ARModel(TimeSeriesModel):
    """An autoregressive model, linear or by a network.

    Each period is cut into buckets, which are features of a time: how far it is into its bucket, 0 for the other buckets.

    Args:
        periodicities: the periods of the series, in units of the times; a number, several or none.
        input_window_size: how many times before it predicts from; 0 to go by the times alone.
        output_window_size: how many times it predicts at once.
        num_features: how many values each time has.
        prediction_model_factory: makes the Keras model that predicts, of `num_features`, `input_window_size` and
            `output_window_size`; it takes the features of both windows and gives `mean` and `covariance`.
        num_time_buckets: into how many buckets a period is cut.
        loss: `ARModel.NORMAL_LIKELIHOOD_LOSS`, which learns variances too, or `ARModel.SQUARED_LOSS`.
        exogenous_feature_columns: columns of features that are given and not predicted.

    Raises:
        ValueError: a number is too small, or there are neither periods nor times before.
    """

    SQUARED_LOSS: Final = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS: Final = "normal_likelihood_loss"

    def __init__(
        self, periodicities: int | Sequence[int] | None, input_window_size: int, output_window_size: int, num_features: int,
        prediction_model_factory: ModelFactory = FlatPredictionModel, num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS, exogenous_feature_columns: Sequence[FeatureColumn] | None = None,
    ) -> None:  # fmt: skip
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(num_features, exogenous_feature_columns)
        self.exogenous_size = 0 if exogenous_feature_columns is None else self._get_exogenous_embedding_shape()[-1]
        self._buckets = int(num_time_buckets)
        several = [periodicities] if isinstance(periodicities, int) else periodicities or []
        self._periodicities = [int(each) for each in several if each]
        if self._buckets < 1 or output_window_size < 1 or any(each < 1 for each in self._periodicities):
            raise ValueError(
                f"ARModel: num_time_buckets, output_window_size and periodicities have to be above 0, found "
                f"{num_time_buckets}, {output_window_size} and {periodicities}"
            )
        if not self._periodicities and not input_window_size:
            raise ValueError("ARModel needs periodicities or an input_window_size above 0 to predict from")

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Make the Keras model.

        Args:
            input_statistics: what is known of the series.
        """
        super().initialize_graph(input_statistics)
        # Not below other scopes: the variables are the same inside of the loop that predicts and outside.
        self._model_scope = variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features, input_window_size=self.input_window_size, output_window_size=self.output_window_size
        )

    def get_start_state(self) -> Nest:
        """Times, values and exogenous features of a window of zeros."""
        size = self.input_window_size
        return (
            zeros([size], dtype=dtypes.int64), zeros([size, self.num_features], dtype=self.dtype),
            zeros([size, self.exogenous_size], dtype=self.dtype),
        )  # fmt: skip

    def prediction_ops(self, times: Tensor, values: Tensor | None, exogenous_regressors: Tensor | None) -> dict[str, Tensor]:
        """What the Keras model predicts.

        Args:
            times: `[batch, window_size] int64`, those before and those to predict.
            values: `[batch, input_window_size, features]`; None when there is no window before.
            exogenous_regressors: `[batch, window_size, exogenous_size]`; None for none.

        Returns:
            `mean` and `covariance`, `[batch, output_window_size, features]`.
        """
        times.get_shape().assert_is_compatible_with([None, self.window_size])
        batch_size = shape(times)[0]
        sizes = (self.input_window_size, self.output_window_size)
        before: list[Tensor] = []
        after: list[Tensor] = []
        if self._periodicities:
            _, features = self._compute_time_features(times)
            count = self._buckets * len(self._periodicities)
            for part, parts in zip(
                split(reshape(features, [batch_size, sum(sizes), count]), sizes, axis=1), (before, after), strict=True
            ):
                parts.append(part)
        if self.input_window_size:
            assert values is not None
            values.get_shape().assert_is_compatible_with([None, self.input_window_size, self.num_features])
            known = slice_of(values, [0, 0, 0], [-1, self.input_window_size, -1])
            before.append(reshape(known, [batch_size, self.input_window_size, self.num_features]))
        if self.exogenous_size:
            assert exogenous_regressors is not None
            for part, parts in zip(split(exogenous_regressors, sizes, axis=1), (before, after), strict=True):
                parts.append(part)
        given = concat(before, axis=2)
        wanted = concat(after, axis=2) if after else zeros([batch_size, self.output_window_size, 0], dtype=self.dtype)
        widths = len(self._periodicities) * self._buckets + self.exogenous_size
        static = times.get_shape()[0].value
        given.set_shape([static, self.input_window_size, widths + (self.num_features if self.input_window_size else 0)])
        wanted.set_shape([static, self.output_window_size, widths])
        with self._model_scope:
            predictions: dict[str, Tensor] = self._model_instance(given, wanted)
            for each in predictions.values():
                each.set_shape([None, self.output_window_size, self.num_features])
            return predictions

    def loss_op(self, targets: Tensor, prediction_ops: Mapping[str, Tensor]) -> Tensor:
        """The mean loss of a value, `[]`.

        Args:
            targets: `[batch, output_window_size, features]`.
            prediction_ops: what `prediction_ops` gives.

        Raises:
            ValueError: the model's loss is none of those that there are.
        """
        prediction = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            sigma = sqrt(maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
            total = -reduce_sum(normal_log_prob(targets, sigma, prediction))
        elif self.loss == ARModel.SQUARED_LOSS:
            total = reduce_sum(squared_difference(prediction, targets))
        else:
            known = (ARModel.NORMAL_LIKELIHOOD_LOSS, ARModel.SQUARED_LOSS)
            raise ValueError(f"ARModel: expected one of {known} as loss, found {self.loss!r}")
        return total / cast(reduce_prod(shape(targets)), total.dtype)

    def exogenous_features(self, times: Tensor, features: Mapping[str, Nest]) -> Tensor:
        """What the columns make of exogenous features: `[batch, window, exogenous_size]`.

        Args:
            times: `[batch, window]`.
            features: all features.
        """
        given = {key: value for key, value in features.items() if key not in _KNOWN}
        found = self._process_exogenous_features(times=times, features=given)
        return zeros(concat([shape(times), constant([0])], axis=0)) if found is None else found

    def predict(self, features: Mapping[str, Nest]) -> dict[str, Tensor]:
        """Predictions of any number of times; see `TimeSeriesModel.predict`.

        Args:
            features: times, the state (of at least `input_window_size` times) and exogenous features.

        Returns:
            `mean` and `covariance`, `[batch, window, features]`.
        """
        if not self._graph_initialized:
            self.initialize_graph()
        times = cast(convert_to_tensor(features[PredictionFeatures.TIMES]), dtypes.int32)
        exogenous = self.exogenous_features(times, features)
        with get_default_graph().control_dependencies([assert_equal(shape(times)[1], shape(exogenous)[1])]):
            exogenous = identity(exogenous)
        found = Extrapolation(self, times, exogenous).run(features[PredictionFeatures.STATE_TUPLE])
        return {
            "mean": self._scale_back_data(found["mean"]), "covariance": self._scale_back_variance(found["covariance"]),
        }  # fmt: skip

    def process_window(self, features: Mapping[str, Tensor], mode: str, exogenous_regressors: Tensor) -> ModelOutputs:
        """The loss and the predictions of one window.

        Args:
            features: times and values.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.
            exogenous_regressors: `[batch, window_size, exogenous_size]`.

        Returns:
            The ModelOutputs.

        Raises:
            ValueError: the window has another length.
        """
        times = cast(features[TrainEvalFeatures.TIMES], dtypes.int64)
        original = cast(features[TrainEvalFeatures.VALUES], dtype=self.dtype)
        exogenous = cast(exogenous_regressors, dtype=self.dtype)
        if not times.get_shape().is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and output_window_size={self.output_window_size} "
                f"expects feature '{TrainEvalFeatures.TIMES}' to have shape (batch_size, {self.window_size}) (for any "
                f"batch_size), but got shape {times.get_shape()}. If you are using RandomWindowInputFn, set "
                f"window_size={self.window_size} or adjust the input_window_size and output_window_size arguments to ARModel."
            )
        values = self._scale_data(original)
        known = values[:, : self.input_window_size, :] if self.input_window_size > 0 else None
        predicted = self.prediction_ops(times, known, exogenous)
        targets = slice_of(values, [0, self.input_window_size, 0], [-1, -1, -1])
        targets.get_shape().assert_is_compatible_with(predicted["mean"].get_shape())
        if mode == ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            # An evaluation tells the error in the scale of the input.
            back = {"mean": self._scale_back_data(predicted["mean"])}
            loss = self.loss_op(self._scale_back_data(targets), back)
        else:
            loss = self.loss_op(targets, predicted)
        before, after = slice(-self.input_window_size, None), slice(-self.output_window_size, None)
        return ModelOutputs(
            loss, (times[:, before], values[:, before, :], exogenous[:, before, :]),
            {
                "mean": self._scale_back_data(predicted["mean"]),
                "covariance": self._scale_back_variance(predicted["covariance"]), "observed": original[:, after],
            },
            times[:, after],
        )  # fmt: skip

    def get_batch_loss(self, features: Mapping[str, Tensor], mode: str, state: Nest) -> ModelOutputs:
        """The loss of a batch; see `TimeSeriesModel.get_batch_loss`.

        Args:
            features: times, values and exogenous features, of a window to train; an evaluation takes longer ones, and predicts
                window by window.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.
            state: the window before, which an evaluation passes on as far as it needs it.

        Returns:
            The ModelOutputs.

        Raises:
            ValueError: the mode is another, or a window is too short.
        """
        given = {name: convert_to_tensor(value) for name, value in features.items()}
        times = given[TrainEvalFeatures.TIMES]
        exogenous = self.exogenous_features(times, given)
        if mode == ModeKeys.TRAIN:
            # A longer window, gone through in order, would bias the training.
            return self.process_window(given, mode, exogenous)
        if mode != ModeKeys.EVAL:
            raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")
        times.get_shape().assert_has_rank(2)
        length = times.get_shape()[1].value
        if length is not None and length < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to evaluate on "
                f"(input_window_size={self.input_window_size}, output_window_size={self.output_window_size}, and got shape "
                f"{times.get_shape()} for feature '{TrainEvalFeatures.TIMES}' (batch size, window size))."
            )
        return evaluate_windows(self, given, exogenous, state)

    def scaled(self, values: Tensor) -> Tensor:
        """Values in the scale of the model.

        Args:
            values: those of the input.

        Returns:
            As many.
        """
        return self._scale_data(values)

    def _compute_time_features(self, time: Tensor) -> tuple[Tensor, Tensor]:
        """The periods that times are in, and how far they are into each bucket: `[batch, window] -> ..., [..., buckets]`."""
        batch_size, count = shape(time)[0], len(self._periodicities)
        periods = constant(self._periodicities, shape=[1, 1, count, 1], dtype=time.dtype)
        time = reshape(time, [batch_size, -1, 1, 1])
        offset = time / self._periodicities
        within = cast(time % periods, self.dtype) * self._buckets / cast(periods, self.dtype)
        starts = reshape(range_of(self._buckets, dtype=self.dtype), [1, 1, 1, self._buckets])
        within = relu(within - starts)
        return offset, where_v2(within < 1.0, within, zeros_like(within))


class AnomalyMixtureARModel(ARModel):
    """An autoregressive model of which some values are anomalies, which have a wide distribution of their own.

    Args:
        periodicities, input_window_size, output_window_size, num_features, prediction_model_factory: see ARModel.
        anomaly_prior_probability: how likely an anomaly is, within (0, 1).
        anomaly_distribution: GAUSSIAN_ANOMALY or CAUCHY_ANOMALY.
        num_time_buckets, exogenous_feature_columns: see ARModel.

    Raises:
        ValueError: the probability or the distribution is none of these.
    """

    GAUSSIAN_ANOMALY: Final = "gaussian"
    CAUCHY_ANOMALY: Final = "cauchy"

    def __init__(
        self, periodicities: int | Sequence[int] | None, anomaly_prior_probability: float, input_window_size: int,
        output_window_size: int, num_features: int, prediction_model_factory: ModelFactory = FlatPredictionModel,
        anomaly_distribution: str = GAUSSIAN_ANOMALY, num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[FeatureColumn] | None = None,
    ) -> None:  # fmt: skip
        if not 0.0 < anomaly_prior_probability < 1.0:
            raise ValueError(f"anomaly_prior_probability has to be within (0, 1), found {anomaly_prior_probability}")
        known = (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY)
        if anomaly_distribution not in known:
            raise ValueError(f"Expected one of {known} as anomaly_distribution, found {anomaly_distribution!r}")
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities, input_window_size, output_window_size, num_features, prediction_model_factory, num_time_buckets,
            ARModel.NORMAL_LIKELIHOOD_LOSS, exogenous_feature_columns,
        )  # fmt: skip

    def prediction_ops(self, times: Tensor, values: Tensor | None, exogenous_regressors: Tensor | None) -> dict[str, Tensor]:
        """As those of ARModel, with `anomaly_params`, the variance or scale of anomalies.

        Args:
            times, values, exogenous_regressors: see ARModel.

        Returns:
            Predictions by name.
        """
        found = super().prediction_ops(times, values, exogenous_regressors)
        logarithm = get_variable("anomaly_log_param", shape=[], dtype=self.dtype, initializer=Zeros())
        found["anomaly_params"] = exp(logarithm)
        return found

    def loss_op(self, targets: Tensor, prediction_ops: Mapping[str, Tensor]) -> Tensor:
        """The mean loss of a value, by the mixture of both distributions.

        Args:
            targets: `[batch, output_window_size, features]`.
            prediction_ops: what `prediction_ops` gives.

        Returns:
            `[]`.
        """
        sigma = sqrt(maximum(prediction_ops["covariance"], _LEAST_VARIANCE))
        usual = normal_log_prob(targets, sigma, prediction_ops["mean"])
        usual += log(1 - self._anomaly_prior_probability)
        strange = self._anomaly_log_prob(targets, prediction_ops)
        strange += log(self._anomaly_prior_probability)
        smaller, larger = minimum(usual, strange), maximum(usual, strange)
        total = -reduce_sum(larger + log(1 + exp(smaller - larger)))
        return total / cast(reduce_prod(shape(targets)), self.dtype)

    def _anomaly_log_prob(self, targets: Tensor, prediction_ops: Mapping[str, Tensor]) -> Tensor:
        prediction, given = prediction_ops["mean"], prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            return normal_log_prob(targets, sqrt(maximum(given, _LEAST_VARIANCE)), prediction)
        return cauchy_log_prob(targets, given, prediction)

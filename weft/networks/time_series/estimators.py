"""TimeSeriesRegressor, ARRegressor, LSTMAutoRegressor: models of series as estimators."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence

from weft.estimators.canned.optimizers import OptimizerLike, get_optimizer_instance
from weft.estimators.estimator import Estimator
from weft.estimators.export.input_receiver import ServingInputReceiver
from weft.estimators.run_config import RunConfig
from weft.framework.building.aliases import DTypeLike
from weft.framework.graphs.graph import Graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import FeatureColumn
from weft.models.feature_columns.column_checks import make_parse_example_spec
from weft.models.feature_columns.numeric import numeric_column
from weft.networks.time_series.ar_model import AnomalyMixtureARModel, ARModel
from weft.networks.time_series.feature_keys import State, TrainEvalFeatures
from weft.networks.time_series.head import OneShotPredictionHead, TimeSeriesRegressionHead
from weft.networks.time_series.model import TimeSeriesModel
from weft.networks.time_series.prediction_models import FlatPredictionModel, LSTMPredictionModel
from weft.networks.time_series.state_management import FilteringOnlyStateManager, PassthroughStateManager
from weft.networks.time_series.statistics import InputStatisticsFromMiniBatch
from weft.ops.array.filling import zeros
from weft.ops.array.placeholder import placeholder, placeholder_with_default
from weft.ops.array.shape_ops import shape, squeeze
from weft.ops.array.stacking import stack
from weft.ops.io.example_features import FixedLenFeature
from weft.ops.io.parse_example import parse_example
from weft.ops.math.casting import cast
from weft.training.optimizers.adagrad import AdagradOptimizer
from weft.training.optimizers.adam import AdamOptimizer
from weft.training.optimizers.optimizer import Optimizer

_ADAM_RATE, _ADAGRAD_RATE, _LSTM_RATE = 0.02, 0.1, 0.01
_ReceiverFn = Callable[[], ServingInputReceiver]


class TimeSeriesRegressor(Estimator):
    """A model of series as an estimator.

    Args:
        model: the model.
        state_manager: tells with which state a batch begins; one that the model needs when None.
        optimizer: trains the model; Adam when None.
        model_dir, config: see Estimator.
        head_type: makes the EstimatorSpecs, TimeSeriesRegressionHead or OneShotPredictionHead.
    """

    def __init__(
        self, model: TimeSeriesModel, state_manager: PassthroughStateManager | None = None, optimizer: Optimizer | None = None,
        model_dir: str | os.PathLike[str] | None = None, config: RunConfig | None = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ) -> None:  # fmt: skip
        if state_manager is None:
            state_manager = FilteringOnlyStateManager() if isinstance(model, ARModel) else PassthroughStateManager()
        self._model = model
        head = head_type(
            model, state_manager, optimizer or AdamOptimizer(_ADAM_RATE),
            InputStatisticsFromMiniBatch(dtype=model.dtype, num_features=model.num_features),
        )  # fmt: skip
        super().__init__(head.create_estimator_spec, model_dir, config)

    def build_one_shot_parsing_serving_input_receiver_fn(
        self, filtering_length: int, prediction_length: int, default_batch_size: int | None = None,
        values_input_dtype: DTypeLike | None = None, truncate_values: bool = False,
    ) -> _ReceiverFn:  # fmt: skip
        """A function for the export of a model with a OneShotPredictionHead that takes Examples.

        Args:
            filtering_length: how many times have values.
            prediction_length: how many times after these are predicted.
            default_batch_size: the size of batches; any when None.
            values_input_dtype: the type of values in Examples; float32 when None.
            truncate_values: whether Examples have values for all times, of which the first are used.

        Returns:
            The function, of no arguments.
        """
        length = filtering_length + prediction_length

        def receive() -> ServingInputReceiver:
            times = numeric_column(TrainEvalFeatures.TIMES, dtype=dtypes.int64)
            values = numeric_column(
                TrainEvalFeatures.VALUES,
                dtype=as_dtype(values_input_dtype or dtypes.float32),
                shape=(self._model.num_features,),
            )
            spec = make_parse_example_spec([*self._model.exogenous_feature_columns, times, values])
            whole = {}
            for key, feature in spec.items():
                if isinstance(feature, FixedLenFeature):
                    known = filtering_length if key == TrainEvalFeatures.VALUES and not truncate_values else length
                    whole[key] = FixedLenFeature(
                        (known, *TensorShape(feature.shape).as_list()), feature.dtype, feature.default_value
                    )
                elif feature.dtype == dtypes.string:
                    whole[key] = FixedLenFeature(shape=(length,), dtype=dtypes.string)
                else:
                    raise ValueError(f"VarLenFeatures not supported, got {feature} for key {key}")
            examples = placeholder(shape=[default_batch_size], dtype=dtypes.string, name="input")
            found = parse_example(serialized=examples, features=whole)
            found[TrainEvalFeatures.TIMES] = squeeze(found[TrainEvalFeatures.TIMES], axis=-1)
            given = cast(found[TrainEvalFeatures.VALUES], dtype=self._model.dtype)
            found[TrainEvalFeatures.VALUES] = given[:, :filtering_length]
            count = shape(found[TrainEvalFeatures.TIMES])[0]
            found.update(self._start_state_placeholders(count, default_batch_size))
            return ServingInputReceiver(found, {"examples": examples})

        return receive

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> _ReceiverFn:
        """A function for the export of a model that takes arrays: times, values, exogenous features and the state.

        Args:
            default_batch_size, default_series_length: the sizes of batches and series; any when None.

        Returns:
            The function, of no arguments.
        """
        sizes = [default_batch_size, default_series_length]

        def receive() -> ServingInputReceiver:
            times = placeholder(name=TrainEvalFeatures.TIMES, dtype=dtypes.int64, shape=sizes)
            count = self._model.num_features
            # To predict needs no values.
            none = zeros(shape=[*(size or 0 for size in sizes), count], dtype=self._model.dtype)
            values = placeholder_with_default(name=TrainEvalFeatures.VALUES, input=none, shape=(*sizes, count))
            found: dict[str, Tensor] = {TrainEvalFeatures.TIMES: times, TrainEvalFeatures.VALUES: values}
            for key, (known, dtype) in self._exogenous_shapes().items():
                found[key] = placeholder(dtype=dtype, name=key, shape=[*sizes, *known.with_rank_at_least(1).as_list()[1:]])
            found.update(self._start_state_placeholders(shape(times)[0], default_batch_size))
            return ServingInputReceiver(found, found)

        return receive

    def _exogenous_shapes(self) -> dict[str, tuple[TensorShape, DTypeLike]]:
        """The shapes, of which the first dimension is the batch's, and the types of exogenous features."""
        if not self._model.exogenous_feature_columns:
            return {}
        with Graph().as_default():
            spec = make_parse_example_spec(self._model.exogenous_feature_columns)
            parsed = parse_example(serialized=placeholder(shape=[None], dtype=dtypes.string), features=spec)
            return {key: (value.get_shape(), value.dtype) for key, value in parsed.items()}

    def _start_state_placeholders(self, count: Tensor, batch_size: int | None) -> dict[str, Tensor]:
        """Where requests put the state, each part by its name; a request without has zeros."""
        # The model may have to make variables to tell its state, which are to stay out of the program's graph.
        with Graph().as_default():
            self._model.initialize_graph()
            parts = [(part.get_shape(), part.dtype.base_dtype) for part in nest.flatten(self._model.get_start_state())]
        found = {}
        for number, (known, dtype) in enumerate(parts):
            name = f"{State.STATE_PREFIX}_{number:02d}"
            default = zeros(stack([count, *known.as_list()]), dtype=dtype)
            whole = TensorShape([batch_size]).concatenate(known)
            found[name] = placeholder_with_default(input=default, name=name, shape=whole)
        return found


class ARRegressor(TimeSeriesRegressor):
    """An autoregressive model, linear or by a network; it learns from windows of input_window_size + output_window_size times.

        reader = tf.contrib.timeseries.NumpyReader({"times": times, "values": values})
        train_input_fn = tf.contrib.timeseries.RandomWindowInputFn(reader, batch_size=16, window_size=40)
        estimator = tf.contrib.timeseries.ARRegressor(
            periodicities=200, input_window_size=30, output_window_size=10, num_features=1)
        estimator.train(input_fn=train_input_fn, steps=1000)

    Args:
        periodicities, input_window_size, output_window_size, num_features: see ARModel.
        exogenous_feature_columns, num_time_buckets, loss: see ARModel.
        hidden_layer_sizes: the sizes of hidden layers; None for a linear model.
        anomaly_prior_probability: how likely an anomaly is; None for a model without.
        anomaly_distribution: of AnomalyMixtureARModel; GAUSSIAN_ANOMALY when None.
        optimizer: trains the model; Adagrad when None.
        model_dir, config: see Estimator.

    Raises:
        ValueError: arguments do not go together.
    """

    def __init__(
        self, periodicities: int | Sequence[int] | None, input_window_size: int, output_window_size: int, num_features: int,
        exogenous_feature_columns: Sequence[FeatureColumn] | None = None, num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS, hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None, anomaly_distribution: str | None = None,
        optimizer: Optimizer | None = None, model_dir: str | os.PathLike[str] | None = None, config: RunConfig | None = None,
    ) -> None:  # fmt: skip
        factory = functools.partial(FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes)
        if anomaly_prior_probability is None:
            if anomaly_distribution is not None:
                raise ValueError("anomaly_prior_probability is required if anomaly_distribution is specified.")
            model = ARModel(
                periodicities, input_window_size, output_window_size, num_features, factory, num_time_buckets, loss,
                exogenous_feature_columns,
            )  # fmt: skip
        else:
            if loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
                raise ValueError(
                    f"AnomalyMixtureARModel only supports ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument, found {loss!r}."
                )
            model = AnomalyMixtureARModel(
                periodicities, anomaly_prior_probability, input_window_size, output_window_size, num_features, factory,
                anomaly_distribution or AnomalyMixtureARModel.GAUSSIAN_ANOMALY, num_time_buckets, exogenous_feature_columns,
            )  # fmt: skip
        super().__init__(model, FilteringOnlyStateManager(), optimizer or AdagradOptimizer(_ADAGRAD_RATE), model_dir, config)


class LSTMAutoRegressor(TimeSeriesRegressor):
    """An autoregressive model by an LSTM over the window before and one over the window to come.

    Args:
        periodicities, input_window_size, output_window_size, num_features: see ARModel.
        model_dir, config: see Estimator.
        extra_feature_columns: columns of features that are given and not predicted.
        num_timesteps: into how many buckets a period is cut.
        loss: see ARModel.
        num_units: the size of the LSTMs.
        optimizer: an Optimizer, its name, or a function that makes it.
    """

    def __init__(
        self, periodicities: int | Sequence[int] | None, input_window_size: int, output_window_size: int,
        model_dir: str | os.PathLike[str] | None = None, num_features: int = 1,
        extra_feature_columns: Sequence[FeatureColumn] | None = None, num_timesteps: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS, num_units: int = 128, optimizer: OptimizerLike = "Adam",
        config: RunConfig | None = None,
    ) -> None:  # fmt: skip
        trainer = get_optimizer_instance(optimizer, learning_rate=_LSTM_RATE)
        model = ARModel(
            periodicities, input_window_size, output_window_size, num_features,
            functools.partial(LSTMPredictionModel, num_units=num_units), num_timesteps, loss, extra_feature_columns,
        )  # fmt: skip
        super().__init__(model, FilteringOnlyStateManager(), trainer, model_dir, config, OneShotPredictionHead)

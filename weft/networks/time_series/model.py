"""TimeSeriesModel: what predicts the values of a series, and what the models give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from weft.framework.building.aliases import DTypeLike, Nest
from weft.framework.graphs.graph import Graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.printed import printed
from weft.models.feature_columns.column import FeatureColumn
from weft.models.feature_columns.column_checks import make_parse_example_spec
from weft.models.feature_columns.input_layer import input_layer
from weft.networks.time_series.feature_keys import TrainEvalFeatures
from weft.networks.time_series.statistics import InputStatistics
from weft.ops.array.filling import ones
from weft.ops.array.joining import concat
from weft.ops.array.placeholder import placeholder
from weft.ops.array.shape_ops import expand_dims, rank, reshape, shape
from weft.ops.array.tiling import tile
from weft.ops.io.parse_example import parse_example
from weft.ops.math.casting import cast
from weft.ops.math.unary import sqrt


class ModelOutputs(NamedTuple):
    """What a model gives for a batch.

    The loss, `[]`; the state after the batch, a tuple; predictions by name, `[batch, times, ...]`; and the times that they are
    of, `[batch, times] int64`.
    """

    loss: Tensor
    end_state: Nest
    predictions: dict[str, Tensor]
    prediction_times: Tensor


class TimeSeriesModel:
    """A model of series.

    A subclass defines `get_start_state`, `get_batch_loss` and `predict`.

    Args:
        num_features: how many values each time has.
        exogenous_feature_columns: columns of features that are given and not predicted.
        dtype: the floating type of values.
    """

    __repr__ = printed("tf.contrib.timeseries")

    def __init__(
        self, num_features: int, exogenous_feature_columns: Sequence[FeatureColumn] | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:  # fmt: skip
        self._exogenous_feature_columns = list(exogenous_feature_columns or ())
        self.num_features = num_features
        self.dtype = as_dtype(dtype)
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False
        self._stats_means: Tensor | None = None
        self._stats_sigmas: Tensor | None = None

    @property
    def exogenous_feature_columns(self) -> list[FeatureColumn]:
        """The columns of features that are given and not predicted."""
        return self._exogenous_feature_columns

    def generate(
        self, number_of_series: int, series_length: int, model_parameters: Mapping[Nest, Nest] | None = None,
        seed: int | None = None,
    ) -> dict[str, Tensor]:  # fmt: skip
        """Series drawn from the model.

        Args:
            number_of_series: how many.
            series_length: how long each is.
            model_parameters: values of parameters in place of the trained ones.
            seed: the seed.

        Returns:
            Times and values by name.

        Raises:
            NotImplementedError: the model does not draw.
        """
        raise NotImplementedError("This model does not support generation.")

    def initialize_graph(self, input_statistics: InputStatistics | None = None) -> None:
        """Make what the model needs in the graph.

        Args:
            input_statistics: what is known of the series, by which values are scaled; None to take them as they are.
        """
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics is not None:
            self._stats_means, variances = input_statistics.overall_feature_moments
            self._stats_sigmas = sqrt(variances)

    def _scale_data(self, data: Tensor) -> Tensor:
        return data if self._input_statistics is None else (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Tensor) -> Tensor:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Tensor) -> Tensor:
        return data if self._input_statistics is None else (data * self._stats_sigmas) + self._stats_means

    def _scale_back_variance(self, variance: Tensor) -> Tensor:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                f"{type(self).__name__} needs initialize_graph() to be called before it is used: that makes its variables in "
                "the default graph."
            )

    def define_loss(self, features: Mapping[str, Tensor], mode: str) -> ModelOutputs:
        """The loss of a batch whose series all begin with the start state.

        Args:
            features: times `[batch, window]`, values `[batch, window, features]`, and exogenous features.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.

        Returns:
            The ModelOutputs.

        Raises:
            ValueError: `initialize_graph` has not been called.
        """
        self._check_graph_initialized()
        start = replicate_state(self.get_start_state(), shape(features[TrainEvalFeatures.TIMES])[0])
        return self.get_batch_loss(features=features, mode=mode, state=start)

    def get_start_state(self) -> Nest:
        """The state at the beginning of a series: a tuple of tensors, without a dimension of the batch."""
        raise NotImplementedError(f"get_start_state is not implemented for {type(self).__name__}.")

    def get_batch_loss(self, features: Mapping[str, Tensor], mode: str, state: Nest) -> ModelOutputs:
        """The loss of a batch, its predictions and the state after it.

        Args:
            features: see `define_loss`.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.
            state: the state before the batch, `[batch, ...]` each.

        Returns:
            The ModelOutputs.
        """
        raise NotImplementedError(f"get_batch_loss is not implemented for {type(self).__name__}.")

    def predict(self, features: Mapping[str, Nest]) -> dict[str, Tensor]:
        """Predictions of what comes after a state.

        Args:
            features: times `[batch, window]`, the state by `PredictionFeatures.STATE_TUPLE`, and exogenous features.

        Returns:
            Predictions by name, `[batch, window, ...]`.
        """
        raise NotImplementedError(f"predict is not implemented for {type(self).__name__}.")

    def _get_exogenous_embedding_shape(self) -> Sequence[int]:
        """The shape of what the columns make of the features of one time."""
        if not self._exogenous_feature_columns:
            return (0,)
        with Graph().as_default():
            spec = make_parse_example_spec(self._exogenous_feature_columns)
            features = parse_example(serialized=placeholder(shape=[None], dtype=dtypes.string), features=spec)
            embedded = input_layer(features=features, feature_columns=self._exogenous_feature_columns)
            return [size or 0 for size in embedded.get_shape().as_list()[1:]]

    def _process_exogenous_features(self, times: Tensor, features: Mapping[str, Tensor]) -> Tensor | None:
        """What the columns make of exogenous features: `[batch, window, ...]`; None without columns."""
        if not self._exogenous_feature_columns:
            return None
        flat = {}
        for name, tensor in features.items():
            if tensor.get_shape().ndims is None:
                raise ValueError(
                    f"Features with unknown rank are not supported. Got shape {tensor.get_shape()} for feature {name}."
                )
            sizes = shape(tensor)
            joined = reshape(tensor, concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0))
            is_column = joined.get_shape().ndims == 1 and joined.dtype != dtypes.string
            flat[name] = joined[:, None] if is_column else joined
        embedded = input_layer(features=flat, feature_columns=self._exogenous_feature_columns, trainable=True)
        found = reshape(embedded, concat([shape(times), shape(embedded)[1:]], axis=0))
        found.set_shape(times.get_shape().concatenate(embedded.get_shape()[1:]))
        return cast(found, self.dtype)


def replicate_state(start_state: Nest, batch_size: Tensor) -> Nest:
    """A state for each series of a batch.

    Args:
        start_state: tensors without a dimension of the batch.
        batch_size: how many series there are, `[] int32`.
    """
    each = [
        tile(expand_dims(part, 0), concat([[batch_size], ones([rank(part)], dtype=dtypes.int32)], 0))
        for part in nest.flatten(start_state)
    ]
    return nest.pack_sequence_as(start_state, each)

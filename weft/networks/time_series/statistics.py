"""What is known of a series before it is modelled: means and variances, its first time and about how many values it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from weft.framework.building.aliases import Nest, VariableLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.networks.time_series.feature_keys import TrainEvalFeatures
from weft.ops.array.identity import identity
from weft.ops.array.shape_ops import shape, size
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less_equal, maximum, minimum
from weft.ops.math.reduce_functions import argmin, reduce_max, reduce_min, reduce_sum
from weft.ops.math.unary import round_to_integer
from weft.ops.nn.norm import moments
from weft.ops.variables.assign import assign, assign_add
from weft.ops.variables.get_variable import get_variable
from weft.ops.variables.initializers import Ones, Zeros
from weft.ops.variables.variable_scope import variable_scope


class Moments(NamedTuple):
    """The mean and the variance of each feature, `[features]`."""

    mean: Tensor
    variance: Tensor


class InputStatistics(NamedTuple):
    """What is known of a series.

    The moments of its beginning and of all of it, its first time, `[] int64`, and how many values it has, `[] int64`.
    """

    series_start_moments: Moments
    overall_feature_moments: Moments
    start_time: Nest
    total_observation_count: Nest


class _Sums(NamedTuple):
    """What the statistics are made of, as variables."""

    max_time_seen: VariableLike
    chunk_count: VariableLike
    inter_observation_duration_sum: VariableLike
    example_count: VariableLike
    overall_feature_sum: VariableLike
    overall_feature_sum_of_squares: VariableLike


class InputStatisticsFromMiniBatch:
    """Statistics that training brings up to date by each batch.

    Args:
        num_features: how many values each time has.
        dtype: the type of values.
        starting_variance_window_size: how many times are the beginning of a series.
    """

    def __init__(self, num_features: int, dtype: DType, starting_variance_window_size: int = 16) -> None:
        self._num_features = num_features
        self._dtype = dtype
        self._start_size = starting_variance_window_size

    def initialize_graph(self, features: Mapping[str, Tensor], update_statistics: bool = True) -> InputStatistics:
        """The statistics as variables, or as they are after a batch.

        Args:
            features: a batch; times and values may be missing.
            update_statistics: whether it brings the statistics up to date.
        """
        times, values = features.get(TrainEvalFeatures.TIMES), features.get(TrainEvalFeatures.VALUES)
        with variable_scope("input_statistics", use_resource=True):
            statistics = self._variables()
        with variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or times is None or values is None:
            return statistics
        updated = self._update(statistics, sums, times, values)
        with get_default_graph().control_dependencies([updated]):
            found: InputStatistics = nest.pack_sequence_as(statistics, [identity(each) for each in nest.flatten(statistics)])
            # Workers that update at once may leave a later time behind than this batch begins with.
            return found._replace(start_time=minimum(found.start_time, reduce_min(times)))

    def _variables(self) -> InputStatistics:
        start = Moments(self._of_features("series_start_mean", 0), self._of_features("series_start_variance", 1))
        overall = Moments(self._of_features("overall_feature_mean", 0), self._of_features("overall_feature_var", 1))
        first = get_variable("start_time", dtype=dtypes.int64, initializer=dtypes.int64.max, trainable=False)
        count = get_variable("total_observation_count", shape=[], dtype=dtypes.int64, initializer=Ones(), trainable=False)
        return InputStatistics(start, overall, first, count)

    def _of_features(self, name: str, value: int) -> VariableLike:
        initializer = Ones() if value else Zeros()
        return get_variable(name, shape=[self._num_features], dtype=self._dtype, initializer=initializer, trainable=False)

    def _sums(self) -> _Sums:
        latest = get_variable("max_time_seen", initializer=dtypes.int64.min, dtype=dtypes.int64, trainable=False)
        counts = {
            name: get_variable(name, shape=[], dtype=dtype, initializer=Zeros(), trainable=False)
            for name, dtype in (
                ("chunk_count", dtypes.int64), ("inter_observation_duration_sum", self._dtype), ("example_count", dtypes.int64),
            )
        }  # fmt: skip
        return _Sums(
            latest, **counts, overall_feature_sum=self._of_features("overall_feature_sum", 0),
            overall_feature_sum_of_squares=self._of_features("overall_feature_sum_of_squares", 0),
        )  # fmt: skip

    def _update(self, statistics: InputStatistics, sums: _Sums, times: Tensor, values: Tensor) -> Operation:
        graph = get_default_graph()
        values = cast(values, self._dtype)
        span = cast(reduce_max(times, axis=1) - reduce_min(times, axis=1), self._dtype)
        density = span / cast(shape(times)[1] - 1, self._dtype)
        with graph.device(sums.max_time_seen.device):
            latest = assign(sums.max_time_seen, maximum(sums.max_time_seen, reduce_max(times)))
        added = [
            (sums.chunk_count, shape(times, out_type=dtypes.int64)[0]),
            (sums.inter_observation_duration_sum, reduce_sum(density)),
            (sums.example_count, size(times, out_type=dtypes.int64)),
            (sums.overall_feature_sum, reduce_sum(values, axis=[0, 1])),
            (sums.overall_feature_sum_of_squares, reduce_sum(values**2, axis=[0, 1])),
        ]
        updates = []
        for variable, more in added:
            with graph.device(variable.device):
                updates.append(assign_add(variable, more))
        with graph.control_dependencies([group(latest, *updates)]):
            count = cast(sums.example_count, self._dtype)
            mean = sums.overall_feature_sum / count
            variance = count / (count - 1.0) * (sums.overall_feature_sum_of_squares / count - mean**2)
            overall = statistics.overall_feature_moments
            moved = [assign(overall.mean, mean), assign(overall.variance, variance)]
            begun, first = self._update_start(statistics, times, values)
            per_value = sums.inter_observation_duration_sum / cast(sums.chunk_count, self._dtype)
            total = cast(round_to_integer(cast(latest - first + 1, self._dtype) / per_value), dtypes.int64)
            moved.append(assign(statistics.total_observation_count, total))
            return group(*moved, begun, first)

    def _update_start(self, statistics: InputStatistics, times: Tensor, values: Tensor) -> tuple[Operation, Tensor]:
        """Update the moments of the beginning by a batch that begins no later than what was seen, and the first time."""
        graph = get_default_graph()
        earliest = cast(argmin(times[:, 0]), dtypes.int32)

        def begins() -> Operation:
            mean, variance = moments(values[earliest, : self._start_size], axes=[0])
            start = statistics.series_start_moments
            return group(assign(start.mean, mean), assign(start.variance, variance))

        with graph.device(statistics.start_time.device):
            begun = cond(less_equal(times[earliest, 0], statistics.start_time), begins, no_op)
            with graph.control_dependencies([begun]):
                first = assign(statistics.start_time, minimum(statistics.start_time, reduce_min(times)))
        return begun, first

"""State managers: with which state a batch of a series begins."""

from __future__ import annotations

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nested import nest
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.networks.time_series.feature_keys import FilteringFeatures, TrainEvalFeatures
from weft.networks.time_series.model import ModelOutputs, TimeSeriesModel, replicate_state
from weft.networks.time_series.sequential_model import SequentialTimeSeriesModel
from weft.networks.time_series.state_tables import StateTables
from weft.networks.time_series.statistics import InputStatistics
from weft.ops.array.identity import identity
from weft.ops.array.joining import concat
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import shape
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, maximum

_TRAIN = "train"


class PassthroughStateManager:
    """Each batch begins with the model's start state."""

    def __init__(self) -> None:
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False

    def initialize_graph(self, model: TimeSeriesModel, input_statistics: InputStatistics | None = None) -> None:
        """Make what the manager needs in the graph.

        Args:
            model: the model.
            input_statistics: what is known of the series.
        """
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(self, model: TimeSeriesModel, features: dict[str, Nest], mode: str) -> ModelOutputs:
        """The loss of a batch.

        Args:
            model: the model.
            features: times `[batch, window]`, values `[batch, window, features]`, and exogenous features.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.

        Returns:
            The ModelOutputs.

        Raises:
            ValueError: a state is given.
        """
        if FilteringFeatures.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return model.define_loss(features, mode)


class _OverridableStateManager(PassthroughStateManager):
    """A batch begins with the state that the features have, or else with one that the manager knows."""

    def define_loss(self, model: TimeSeriesModel, features: dict[str, Nest], mode: str) -> ModelOutputs:
        """The loss of a batch; see PassthroughStateManager.

        Args:
            model: the model.
            features: those of the batch; a state by `FilteringFeatures.STATE_TUPLE`, if there is one.
            mode: TRAIN or EVAL of `tf.estimator.ModeKeys`.

        Returns:
            The ModelOutputs.

        Raises:
            ValueError: a state is given to train with.
        """
        if FilteringFeatures.STATE_TUPLE not in features:
            return self._define_loss_with_saved_state(model, features, mode)
        if mode == _TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{FilteringFeatures.STATE_TUPLE} was specified)."
            )
        state = features.pop(FilteringFeatures.STATE_TUPLE)
        return model.get_batch_loss(features=features, mode=mode, state=state)

    def _define_loss_with_saved_state(self, model: TimeSeriesModel, features: dict[str, Nest], mode: str) -> ModelOutputs:
        raise NotImplementedError


class FilteringOnlyStateManager(_OverridableStateManager):
    """Batches begin with the model's start state, unless an evaluation or an export is given another: for window models."""

    def _define_loss_with_saved_state(self, model: TimeSeriesModel, features: dict[str, Nest], mode: str) -> ModelOutputs:
        return model.define_loss(features, mode)


class ChainingStateManager(_OverridableStateManager):
    """Batches begin with the state that an earlier batch has left at that time: for models that go through a series.

    That trains by parts of a series at a time, in any order.

    Args:
        state_saving_interval: how far the times are apart whose states are kept.
        checkpoint_state: whether checkpoints have these states; else they are made anew after a restart.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False) -> None:
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Nest = None
        self._cached_states: StateTables | None = None

    def initialize_graph(self, model: TimeSeriesModel, input_statistics: InputStatistics | None = None) -> None:
        """Make the tables of states.

        Args:
            model: the model, which has its graph.
            input_statistics: what is known of the series.
        """
        super().initialize_graph(model, input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = StateTables(self._start_state, name="cached_states", checkpoint=self._checkpoint_state)

    def _define_loss_with_saved_state(self, model: TimeSeriesModel, features: dict[str, Nest], mode: str) -> ModelOutputs:
        if not self._graph_initialized or self._cached_states is None:
            raise ValueError("ChainingStateManager requires initialize_graph() to be called before use.")
        if not isinstance(model, SequentialTimeSeriesModel):
            raise TypeError(
                f"ChainingStateManager is for models that go through a series time by time, a SequentialTimeSeriesModel; "
                f"{type(model).__name__} takes a FilteringOnlyStateManager"
            )
        times = features[TrainEvalFeatures.TIMES]
        states = self._known_states(self._cached_states, times[:, 0])
        loss, after, predictions = model.per_step_batch_loss(features=features, mode=mode, state=states)
        with get_default_graph().control_dependencies([self._kept(self._cached_states, times, after)]):
            loss = identity(loss)
        last = [part[:, -1] for part in nest.flatten(after)]
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        end = nest.pack_sequence_as(after, [part[-1][None] for part in last])
        return ModelOutputs(loss, end, predictions, times)

    def _interval_of(self, time: Nest) -> Nest:
        return time // self._state_saving_interval

    def _known_states(self, tables: StateTables, times: Tensor) -> Nest:
        """The states with which batches begin at some times, `[batch]`."""
        intervals = self._interval_of(times)
        known = tables.lookup(cast(intervals, dtypes.int64))
        first: Nest = 0 if self._input_statistics is None else self._input_statistics.start_time
        # Gradients go back to the start state itself, not to the copy of it that tables begin with.
        is_first = equal(intervals, self._interval_of(first))
        starts = nest.flatten(replicate_state(self._start_state, shape(times)[0]))
        chosen = [where(is_first, start, cached) for start, cached in zip(starts, nest.flatten(known), strict=True)]
        return nest.pack_sequence_as(known, chosen)

    def _kept(self, tables: StateTables, times: Tensor, states: Nest) -> Operation:
        """An operation that keeps the states after each time, `[batch, window, ...]`, for the batch that begins there."""
        least = self._interval_of(times) + 1
        following = self._interval_of(concat([times[:, 1:], times[:, -1:] + 1], axis=1))
        return tables.insert(maximum(following, least), states)

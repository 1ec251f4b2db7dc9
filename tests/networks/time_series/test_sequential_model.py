"""Models that go through a series time by time, of a program's own, in the way of TensorFlow's example of an LSTM."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib.timeseries.python.timeseries import estimators as series_estimators
from weft.contrib.timeseries.python.timeseries import model as series_model
from weft.contrib.timeseries.python.timeseries import state_management

import weft as tf

_SERIES = tf.contrib.timeseries


class _Lstm(series_model.SequentialTimeSeriesModel):
    """Predicts a time from the one before."""

    def __init__(self, num_units: int, num_features: int, **kwargs: Any) -> None:
        super().__init__(["mean"], ["mean"], num_features, **kwargs)
        self._num_units = num_units

    def initialize_graph(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)
        with tf.variable_scope("", use_resource=True):
            self._cell = tf.nn.rnn_cell.LSTMCell(num_units=self._num_units)
            self._run = tf.make_template("lstm_cell", self._cell, create_scope_now_=True)
            dense = functools.partial(tf.layers.dense, units=self.num_features)
            self._predict = tf.make_template("predict_from_lstm_output", dense, create_scope_now_=True)

    def get_start_state(self) -> Any:
        parts = [tf.squeeze(part, axis=0) for part in self._cell.zero_state(batch_size=1, dtype=self.dtype)]
        return tf.zeros([], dtype=tf.int64), tf.zeros([self.num_features], dtype=self.dtype), parts

    def _filtering_step(self, current_times: Any, current_values: Any, state: Any, predictions: Any) -> Any:
        time, prediction, lstm_state = state
        with tf.control_dependencies([tf.assert_equal(current_times, time)]):
            values = self._scale_data(current_values)
            loss = tf.reduce_mean((prediction - values) ** 2, axis=-1)
            return (current_times, values, lstm_state), {**predictions, "loss": loss}

    def _prediction_step(self, current_times: Any, state: Any) -> Any:
        _, before, lstm_state = state
        output, lstm_state = self._run(inputs=before, state=lstm_state)
        prediction = self._predict(output)
        return (current_times, prediction, list(lstm_state)), {"mean": self._scale_back_data(prediction)}

    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        return state

    def _exogenous_input_step(self, current_times: Any, current_exogenous_regressors: Any, state: Any) -> Any:
        time, before, lstm_state = state
        return time, before + 0 * tf.reduce_sum(current_exogenous_regressors), lstm_state


def _csv(folder: Path) -> str:
    times = np.arange(200)
    values = np.stack([np.sin(times / 5 + shift) for shift in range(2)], axis=1)
    path = str(folder / "waves.csv")
    np.savetxt(path, np.concatenate([times[:, None], values], axis=1), delimiter=",", fmt=["%d", "%.5f", "%.5f"])
    return path


@pytest.mark.parametrize("threshold", [None, 50], ids=["a loop", "written out"])
def test_a_state_goes_from_batch_to_batch(threshold: int | None, tmp_path: Path) -> None:
    reader = _SERIES.CSVReader(_csv(tmp_path), column_names=("times", "values", "values"))
    estimator = series_estimators.TimeSeriesRegressor(
        model=_Lstm(16, 2, static_unrolling_window_size_threshold=threshold), optimizer=tf.train.AdamOptimizer(0.02),
        state_manager=state_management.ChainingStateManager(), model_dir=str(tmp_path / "model"),
        config=tf.estimator.RunConfig(tf_random_seed=4),
    )  # fmt: skip
    windows = _SERIES.RandomWindowInputFn(reader, batch_size=4, window_size=32, num_threads=1, shuffle_seed=2)
    estimator.train(windows, steps=80)
    evaluation = estimator.evaluate(_SERIES.WholeDatasetInputFn(reader), steps=1)
    assert evaluation["loss"] < 0.05
    assert [np.shape(part) for part in tf.contrib.framework.nest.flatten(evaluation["start_tuple"])] == [
        (1,), (1, 2), (1, 16), (1, 16),
    ]  # fmt: skip
    (predictions,) = estimator.predict(_SERIES.predict_continuation_input_fn(evaluation, steps=10))
    assert predictions["times"].tolist() == list(range(200, 210))
    assert predictions["mean"][0] == pytest.approx([np.sin(200 / 5), np.sin(200 / 5 + 1)], abs=0.2)


def test_exogenous_features_where_they_are_taken(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def is_taken(times: Any, features: Any) -> Any:
        seen.append(sorted(features))
        return tf.equal(times % 2, 0)

    columns = [tf.feature_column.numeric_column("e")]
    model = _Lstm(4, 1, exogenous_feature_columns=columns, exogenous_update_condition=is_taken)
    estimator = series_estimators.TimeSeriesRegressor(model=model, model_dir=str(tmp_path))
    data = {"times": np.arange(20), "values": np.arange(20.0) % 3, "e": np.arange(20.0)}
    estimator.train(_SERIES.WholeDatasetInputFn(_SERIES.NumpyReader(data)), steps=2)
    assert seen[0] == ["e"]


def test_outputs_that_were_not_announced_are_told(tmp_path: Path) -> None:
    class Other(_Lstm):
        def _prediction_step(self, current_times: Any, state: Any) -> Any:
            state, outputs = super()._prediction_step(current_times, state)
            return state, {**outputs, "more": outputs["mean"]}

    estimator = series_estimators.TimeSeriesRegressor(model=Other(4, 1), model_dir=str(tmp_path))
    data = _SERIES.NumpyReader({"times": np.arange(20), "values": np.ones(20)})
    with pytest.raises(ValueError, match=r"gives the outputs \['loss', 'mean', 'more'\]"):
        estimator.train(_SERIES.WholeDatasetInputFn(data), steps=1)


def test_a_manager_for_another_model_is_refused(tmp_path: Path) -> None:
    estimator = series_estimators.TimeSeriesRegressor(
        model=_SERIES.ARModel(5, 4, 2, 1), state_manager=state_management.ChainingStateManager(), model_dir=str(tmp_path)
    )
    data = _SERIES.NumpyReader({"times": np.arange(6), "values": np.ones(6)})
    with pytest.raises(TypeError, match="ARModel takes a FilteringOnlyStateManager"):
        estimator.train(_SERIES.WholeDatasetInputFn(data), steps=1)

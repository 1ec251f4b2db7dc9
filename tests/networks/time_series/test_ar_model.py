"""Autoregressive models train and predict as TensorFlow 1.15.5's, which was asked for the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib.timeseries.python.timeseries import ar_model, head, model, saved_model_utils
from weft.contrib.timeseries.python.timeseries import estimators as series_estimators

import weft as tf

_TIMES = np.arange(60)
_VALUES = np.sin(np.pi * _TIMES / 10) + _TIMES / 60.0
_EXOGENOUS = (_TIMES % 3).astype(np.float32)
_SERIES = tf.contrib.timeseries
_SIZES = {"periodicities": 20, "input_window_size": 8, "output_window_size": 4, "num_features": 1}


def _windows(with_exogenous: bool = False) -> Callable[[], Any]:
    """A batch of three windows."""

    def cut(series: Any) -> Any:
        return tf.constant(np.stack([series[begin : begin + 12] for begin in (0, 9, 25)]))

    def input_fn() -> Any:
        features = {"times": cut(_TIMES), "values": cut(_VALUES[:, None])}
        return {**features, "e": cut(_EXOGENOUS)} if with_exogenous else features, None

    return input_fn


def _whole(with_exogenous: bool = False) -> Any:
    data = {"times": _TIMES, "values": _VALUES, **({"e": _EXOGENOUS} if with_exogenous else {})}
    return _SERIES.WholeDatasetInputFn(_SERIES.NumpyReader(data))


def _config() -> Any:
    return tf.estimator.RunConfig(tf_random_seed=3)


_CASES: list[tuple[str, dict[str, Any], float, list[float], float, list[float], float]] = [
    ("plain", {}, 1.29265, [-0.14466, -0.01279], 0.3304, [0.41545, 0.23661, 0.18471, 0.08994, 0.37237, -0.01237], 0.3712),
    ("squared", {"loss": "squared_loss"}, 0.31513, [-0.16246, -0.09563], 0.30001,
     [0.39917, 0.22372, 0.16074, 0.06274, 0.3636, -0.03578], 0.40914),
    ("hidden", {"hidden_layer_sizes": [8]}, 1.60501, [-0.26679, -0.01757], 0.13977,
     [0.02813, 0.17983, 0.33759, 0.29866, 0.32876, 0.1099], 0.30562),
    ("times alone", {"input_window_size": 0, "output_window_size": 12}, 1.57802, [0.13709, 0.14054], 0.34,
     [0.1552, 0.22434, 0.40254, 0.3652, 0.29916, 0.3748], 0.4483),
    ("a short past", {"input_window_size": 3, "output_window_size": 9}, 1.4767, [-0.36407, -0.12162], 0.50049,
     [0.29335, 0.50165, 0.16358, 0.23223, 0.47198, 0.07366], 0.3817),
    ("anomalies", {"anomaly_prior_probability": 0.1, "anomaly_distribution": "gaussian"}, 1.27993, [-0.14689, -0.02705],
     0.32695, [0.41485, 0.23668, 0.18294, 0.09088, 0.37011, -0.01235], 0.37624),
    ("wide anomalies", {"anomaly_prior_probability": 0.1, "anomaly_distribution": "cauchy"}, 1.30165, [-0.1495, -0.03684],
     0.32736, [0.4159, 0.23506, 0.18066, 0.09139, 0.37073, -0.01474], 0.3752),
    ("two periods", {"periodicities": [20, 7], "num_time_buckets": 4}, 1.88317, [0.13332, 0.04677], 0.11954,
     [0.00568, 0.0522, 0.18591, 0.65258, 0.26435, 0.13973], 0.30815),
    ("no period", {"periodicities": None}, 1.4476, [-0.16939, 0.2794], 1.37004,
     [0.57313, 0.39531, 0.51917, 0.06381, 0.03154, 0.1106], 0.44174),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "loss", "mean", "variance", "predicted", "last_variance"), [case[1:] for case in _CASES],
    ids=[case[0] for case in _CASES],
)  # fmt: skip
def test_trained_evaluated_and_continued(
    changes: dict[str, Any], loss: float, mean: list[float], variance: float, predicted: list[float], last_variance: float,
    tmp_path: Path,
) -> None:  # fmt: skip
    estimator = _SERIES.ARRegressor(**{**_SIZES, **changes}, model_dir=str(tmp_path), config=_config())
    estimator.train(_windows(), steps=8)
    evaluation = estimator.evaluate(_whole(), steps=1)
    assert evaluation["loss"] == pytest.approx(loss, abs=2e-5)
    assert evaluation["mean"][0, -2:, 0] == pytest.approx(mean, abs=2e-5)
    assert evaluation["covariance"][0, -1, 0] == pytest.approx(variance, abs=2e-5)
    predictions = next(iter(estimator.predict(_SERIES.predict_continuation_input_fn(evaluation, steps=6))))
    assert predictions["times"].tolist() == list(range(60, 66))
    assert predictions["mean"][:, 0] == pytest.approx(predicted, abs=2e-5)
    assert predictions["covariance"][-1] == pytest.approx(last_variance, abs=2e-5)


def test_exogenous_features_and_an_export(tmp_path: Path) -> None:
    columns = [tf.feature_column.numeric_column("e")]
    estimator = _SERIES.ARRegressor(
        **_SIZES, exogenous_feature_columns=columns, model_dir=str(tmp_path / "model"), config=_config()
    )
    estimator.train(_windows(True), steps=8)
    evaluation = estimator.evaluate(_whole(True), steps=1)
    assert evaluation["loss"] == pytest.approx(3.65551, abs=2e-5)
    path = estimator.export_saved_model(str(tmp_path / "export"), estimator.build_raw_serving_input_receiver_fn()).decode()
    with tf.Graph().as_default(), tf.Session() as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], path)
        found = saved_model_utils.predict_continuation(
            evaluation, signatures, session, steps=3, exogenous_features={"e": np.zeros([1, 3, 1])}
        )
        assert found["mean"][0, :, 0] == pytest.approx([-0.23601, 0.77344, -0.95982], abs=2e-5)

        def part(begin: int, end: int) -> dict[str, Any]:
            return {"times": _TIMES[begin:end], "values": _VALUES[begin:end], "e": _EXOGENOUS[begin:end, None]}

        state = saved_model_utils.cold_start_filter(signatures, session, part(0, 20))
        state = saved_model_utils.filter_continuation(state, signatures, session, part(20, 32))
        assert sorted(state) == ["model_state_00", "model_state_01", "model_state_02", "times"]
        found = saved_model_utils.predict_continuation(
            state, signatures, session, times=[32, 33], exogenous_features={"e": np.zeros([1, 2, 1])}
        )
        assert found["mean"][0, :, 0] == pytest.approx([-0.05144, 0.43631], abs=2e-5)


def test_a_head_whose_export_takes_no_state(tmp_path: Path) -> None:
    made = ar_model.ARModel(**_SIZES, loss="squared_loss")
    estimator = series_estimators.TimeSeriesRegressor(
        made, head_type=head.OneShotPredictionHead, model_dir=str(tmp_path / "model"), config=_config()
    )
    estimator.train(_windows(), steps=5)
    assert "start_tuple" not in estimator.evaluate(_whole(), steps=1)
    receiver = estimator.build_one_shot_parsing_serving_input_receiver_fn(filtering_length=12, prediction_length=3)
    path = estimator.export_saved_model(str(tmp_path / "export"), receiver).decode()
    example = tf.train.Example(features=tf.train.Features(feature={
        "times": tf.train.Feature(int64_list=tf.train.Int64List(value=range(15))),
        "values": tf.train.Feature(float_list=tf.train.FloatList(value=_VALUES[:12])),
    }))  # fmt: skip
    predict = tf.contrib.predictor.from_saved_model(path)
    found = predict({"examples": [example.SerializeToString()]})
    assert found["mean"][0, :, 0] == pytest.approx([-0.23165, -0.1553, -0.22058], abs=2e-5)


def test_an_lstm_learns_a_wave(tmp_path: Path) -> None:
    estimator = series_estimators.LSTMAutoRegressor(
        20, 8, 4, model_dir=str(tmp_path), num_units=6, loss="squared_loss", config=_config()
    )
    first = estimator.train(_windows(), steps=1).evaluate(_whole(), steps=1)["loss"]
    assert estimator.train(_windows(), steps=60).evaluate(_whole(), steps=1)["loss"] < first - 0.1
    assert "model/lstm_prediction_model/mean_transform/kernel" in estimator.get_variable_names()


def test_what_does_not_go_together_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="periodicities or an input_window_size above 0"):
        ar_model.ARModel(None, 0, 4, 1)
    with pytest.raises(ValueError, match="have to be above 0, found 10, 0 and 20"):
        ar_model.ARModel(20, 8, 0, 1)
    with pytest.raises(ValueError, match="anomaly_prior_probability is required"):
        _SERIES.ARRegressor(**_SIZES, anomaly_distribution="cauchy")
    with pytest.raises(ValueError, match=r"found 'squared_loss'"):
        _SERIES.ARRegressor(**_SIZES, anomaly_prior_probability=0.1, loss="squared_loss")
    estimator = _SERIES.ARRegressor(20, 9, 4, 1, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match=r"set window_size=13 or adjust"):
        estimator.train(_windows(), steps=1)
    with pytest.raises(ValueError, match="received a `labels`"):
        estimator.train(lambda: (_windows()()[0], tf.zeros([3])), steps=1)
    with pytest.raises(ValueError, match="Expected a 'values' feature for training/evaluation"):
        estimator.train(lambda: ({"times": tf.zeros([3, 13], tf.int64)}, None), steps=1)
    with pytest.raises(NotImplementedError, match="get_start_state is not implemented for TimeSeriesModel"):
        model.TimeSeriesModel(1).get_start_state()

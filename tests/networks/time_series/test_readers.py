"""Series of arrays and files, whole and in windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib.timeseries.python.timeseries import input_pipeline

import weft as tf

_SERIES = tf.contrib.timeseries


def _run(batch: Any, times: int = 1) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(batch) for _ in range(times)]
        coordinator.request_stop()
        coordinator.join(threads)
    return found


def test_arrays_with_and_without_features() -> None:
    for values in (np.arange(5.0), np.arange(5.0)[:, None]):
        features, labels = _SERIES.WholeDatasetInputFn(_SERIES.NumpyReader({"times": np.arange(5), "values": values}))()
        assert labels is None
        (found,) = _run(features)
        assert found["times"].tolist() == [[0, 1, 2, 3, 4]]
        assert found["values"].shape == (1, 5, 1)


def test_files_are_read_once_and_headers_left_out(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.csv") for number in range(2)]
    for number, path in enumerate(paths):
        lines = [f"{number * 3 + row},{row}.5,{row}" for row in range(3)]
        Path(path).write_text("\n".join(["t,v,e", *lines]) + "\n", encoding="utf-8")
    reader = _SERIES.CSVReader(
        paths, column_names=["times", "values", "e"], column_dtypes=[tf.int64, tf.float64, tf.string], skip_header_lines=1
    )
    (found,) = _run(_SERIES.WholeDatasetInputFn(reader)()[0])
    assert found["times"].tolist() == [[0, 1, 2, 3, 4, 5]]
    assert found["values"][0, :, 0].tolist() == [0.5, 1.5, 2.5] * 2
    assert found["e"][0, :, 0].tolist() == [b"0", b"1", b"2"] * 2


def test_examples_of_files(tmp_path: Path) -> None:
    path = str(tmp_path / "series.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for time in range(4):
            feature = {
                "times": tf.train.Feature(int64_list=tf.train.Int64List(value=[time])),
                "values": tf.train.Feature(float_list=tf.train.FloatList(value=[time, 2 * time])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    spec = {"times": tf.FixedLenFeature([], tf.int64), "values": tf.FixedLenFeature([2], tf.float32)}
    (found,) = _run(_SERIES.WholeDatasetInputFn(input_pipeline.TFExampleReader(path, spec))()[0])
    assert found["times"].tolist() == [[0, 1, 2, 3]]
    assert found["values"][0, -1].tolist() == [3, 6]


@pytest.mark.parametrize("discard", [True, False])
def test_windows_of_times_that_follow_each_other(discard: bool) -> None:
    reader = _SERIES.NumpyReader({"times": np.arange(50), "values": np.arange(50.0) / 2})
    windows = _SERIES.RandomWindowInputFn(reader, window_size=7, batch_size=4, discard_out_of_order=discard)
    found = _run(windows()[0], times=20)
    begins = set()
    for batch in found:
        assert batch["values"].shape == (4, 7, 1)
        assert (np.diff(batch["times"], axis=1) >= 0).all()
        np.testing.assert_array_equal(batch["values"][..., 0], batch["times"] / 2)
        if discard:
            assert (np.diff(batch["times"], axis=1) == 1).all()
        begins.update(batch["times"][:, 0].tolist())
    assert len(begins) > 10


def test_a_series_that_never_gives_a_window_ends() -> None:
    reader = _SERIES.NumpyReader({"times": np.arange(4)[::-1].copy(), "values": np.arange(4.0)})
    windows = _SERIES.RandomWindowInputFn(reader, window_size=4, batch_size=2, discard_consecutive_batches_limit=5)
    with pytest.raises(tf.errors.OutOfRangeError):
        _run(windows()[0])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"times": [0, 1]}, "times and values are required features"),
        ({"times": [0, 1], "values": [1.0]}, r"Got shape \(1,\) for feature 'values', but shape \(2,\) for 'times'"),
        ({"times": [0, 1], "values": np.zeros([2, 1, 1])}, "Was expecting at most 2 since 'times' has 1"),
        ({"times": np.zeros([1, 1, 1]), "values": np.zeros([1, 1, 1])}, "unexpected number of dimensions for times"),
        ({"times": np.zeros([2, 3]), "values": np.zeros([2, 3])}, "expecting unbatched input"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _SERIES.NumpyReader(data)


def test_arguments_that_do_not_fit_are_refused() -> None:
    reader = _SERIES.NumpyReader({"times": np.arange(5), "values": np.arange(5.0)})
    with pytest.raises(ValueError, match="windows of size 6, but only 5 records"):
        _SERIES.RandomWindowInputFn(reader, window_size=6, batch_size=1)
    with pytest.raises(ValueError, match="'values' is a required column"):
        _SERIES.CSVReader("x.csv", column_names=["times", "v"])
    with pytest.raises(ValueError, match="more than one times column"):
        _SERIES.CSVReader("x.csv", column_names=["times", "times", "values"])
    with pytest.raises(ValueError, match="must match the length of column_names"):
        _SERIES.CSVReader("x.csv", column_dtypes=[tf.int64])
    evaluation = {"times": np.array([[3, 4]]), "start_tuple": (np.zeros([1]),)}
    with pytest.raises(ValueError, match="One of `steps` and `times` must be specified"):
        _SERIES.predict_continuation_input_fn(evaluation)
    with pytest.raises(ValueError, match="Only one of `steps` and `times`"):
        _SERIES.predict_continuation_input_fn(evaluation, steps=1, times=[5])
    with pytest.raises(ValueError, match=r"found \[4\] after \[4\]"):
        _SERIES.predict_continuation_input_fn(evaluation, times=[4])
    with pytest.raises(ValueError, match="batch dimension of 2 for `times` and 1"):
        _SERIES.predict_continuation_input_fn(evaluation, times=[[5], [5]])

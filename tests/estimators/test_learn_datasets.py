"""The data sets of tf.contrib.learn come from files and from scikit-learn, and say what is missing."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

import weft as tf

datasets = tf.contrib.learn.datasets


def test_a_csv_file_with_a_header_is_features_and_targets(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("3,2,no,yes\n1,2.5,0\n3,4,1\n5,6,1\n")
    data = datasets.base.load_csv_with_header(str(path), np.int64, np.float32)
    assert data.data.tolist() == [[1, 2.5], [3, 4], [5, 6]]
    assert data.data.dtype == np.float32
    assert data.target.tolist() == [0, 1, 1]
    path.write_text("1,2.5,0\n3,4,1\n")
    plain = datasets.base.load_csv_without_header(str(path), str, str, target_column=0)
    assert plain.target.tolist() == ["1", "3"]
    datasets.base.shrink_csv(str(path), 2)
    assert (tmp_path / "a_small.csv").read_text() == "1,2.5,0\n"


def test_a_header_that_announces_something_else_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("4,2\n1,2,0\n")
    with pytest.raises(ValueError, match="announces 4 rows of 2 features, found 1 of 2"):
        datasets.base.load_csv_with_header(str(path), np.int64, np.float32)


def test_the_irises_are_those_of_tensorflow() -> None:
    pytest.importorskip("sklearn")
    irises = datasets.load_iris()
    assert irises.data.shape == (150, 4)
    assert irises.target.tolist() == [0] * 50 + [1] * 50 + [2] * 50
    assert irises.data[[0, 34, 37]].tolist() == [[5.1, 3.5, 1.4, 0.2], [4.9, 3.1, 1.5, 0.1], [4.9, 3.1, 1.5, 0.1]]
    assert datasets.load_dataset("iris").data.sum() == pytest.approx(irises.data.sum())


def test_the_irises_are_inputs_of_estimators() -> None:
    pytest.importorskip("sklearn")
    test_data = tf.contrib.learn.python.learn.estimators.test_data
    with tf.Graph().as_default(), tf.Session() as session:
        features, species = session.run(test_data.iris_input_multiclass_fn())
        two, classes = session.run(test_data.iris_input_logistic_fn())
    assert (features["feature"].shape, features["feature"].dtype, species.shape, species.dtype) == (
        (150, 4), np.float32, (150, 1), np.int32,
    )  # fmt: skip
    assert np.array_equal(two["feature"], features["feature"][:100])
    assert classes.ravel().tolist() == [0] * 50 + [1] * 50
    assert test_data.get_quantile_based_buckets([1.0, 2.0, 3.0, 4.0, 5.0], 3) == [2.0, 3.0, 4.0]


def test_what_is_not_there_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="give the path of boston_house_prices"):
        datasets.load_boston()
    with pytest.raises(tf.errors.NotFoundError, match="does not download: fetch it from http://there/"):
        datasets.base.maybe_download("a.gz", str(tmp_path), "http://there/")
    with pytest.raises(ValueError, match="not found: none"):
        datasets.load_dataset("none")
    (tmp_path / "a.gz").write_bytes(b"")
    assert datasets.base.maybe_download("a.gz", str(tmp_path), "http://there/") == str(tmp_path / "a.gz")


def test_mnist_is_read_from_local_files(tmp_path: Path) -> None:
    for name, count in (("train", 6), ("t10k", 2)):
        with gzip.open(tmp_path / f"{name}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4i", 2051, count, 28, 28) + bytes([7]) * (count * 784))
        with gzip.open(tmp_path / f"{name}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2i", 2049, count) + bytes(range(count)))
    digits = tf.contrib.learn.datasets.mnist.read_data_sets(str(tmp_path), one_hot=True, validation_size=2)
    assert (digits.train.num_examples, digits.validation.num_examples, digits.test.num_examples) == (4, 2, 2)
    assert digits.test.labels.tolist() == np.eye(10)[:2].tolist()


class DataFrame:
    """What is used of pandas.DataFrame, which weft does not need installed."""

    def __init__(self, **columns: list[object]) -> None:
        self._columns = {key: np.array(values) for key, values in columns.items()}
        self.columns = list(columns)

    def __getitem__(self, key: str) -> np.ndarray:
        return self._columns[key]

    @property
    def values(self) -> np.ndarray:
        return np.stack(list(self._columns.values()), axis=1)


def test_frames_become_arrays_and_other_things_stay() -> None:
    learn = tf.contrib.learn
    frame = DataFrame(a=[1, 2], b=[True, False])
    assert learn.extract_pandas_data(frame).tolist() == [[1, 1], [2, 0]]
    assert learn.extract_pandas_matrix(frame).shape == (2, 2)
    assert learn.extract_pandas_labels(DataFrame(a=[1, 2])).tolist() == [[1], [2]]
    assert learn.extract_pandas_data([1, 2]) == [1, 2]
    with pytest.raises(ValueError, match="must be int, float, or bool"):
        learn.extract_pandas_data(DataFrame(a=["x"]))
    with pytest.raises(ValueError, match="Only one column for labels"):
        learn.extract_pandas_labels(frame)

"""Small data sets for tf.contrib.learn: CSV files as arrays, the irises, the houses of Boston."""

from __future__ import annotations

import csv
import importlib
import os
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from weft.errors import NotFoundError
from weft.framework.building.aliases import Array
from weft.platform.files import gfile

# TensorFlow has the copy of the UCI repository, which differs in these three numbers from Fisher's table (scikit-learn's).
_UCI_IRISES = ((34, 3, 0.1), (37, 1, 3.1), (37, 2, 1.5))


class Dataset(NamedTuple):
    """Rows of features and the target of each.

    Args:
        data: the features, an array.
        target: the targets, an array of as many rows.
    """

    data: Array
    target: Array


class Datasets(NamedTuple):
    """What to train with, to choose settings by, and to test with.

    Args:
        train, validation, test: the three.
    """

    train: object
    validation: object
    test: object


def load_csv_with_header(filename: str, target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int = -1) -> Dataset:
    """Read a CSV file whose first row begins with the numbers of its rows and of its features.

    Args:
        filename: the path.
        target_dtype, features_dtype: the dtypes of the two arrays.
        target_column: the column of the target.

    Returns:
        A Dataset.

    Raises:
        ValueError: the file has another number of rows or features.
    """
    header, *rows = _rows(filename)
    samples, features = int(header[0]), int(header[1])
    result = _split(rows, target_dtype, features_dtype, target_column)
    if len(rows) != samples or (rows and result.data.shape[1] != features):
        raise ValueError(
            f"{filename}: the header announces {samples} rows of {features} features, found {len(rows)} of "
            f"{result.data.shape[1] if rows else 0}"
        )
    return result


def load_csv_without_header(
    filename: str, target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int = -1
) -> Dataset:
    """Read a CSV file of rows that all have the target in one column.

    Args:
        filename: the path.
        target_dtype, features_dtype: the dtypes of the two arrays.
        target_column: the column of the target.

    Returns:
        A Dataset.
    """
    return _split(_rows(filename), target_dtype, features_dtype, target_column)


def _rows(filename: str) -> list[list[str]]:
    with gfile.GFile(filename, "r") as file:
        return [row for row in csv.reader(file.read().splitlines()) if row]


def _split(rows: list[list[str]], target_dtype: DTypeLike, features_dtype: DTypeLike, target_column: int) -> Dataset:
    features = [list(row) for row in rows]
    targets = [row.pop(target_column) for row in features]
    return Dataset(np.array(features, features_dtype), np.array(targets, target_dtype))


def shrink_csv(filename: str, ratio: int) -> None:
    """Write each `ratio`-th row of `NAME.csv` to `NAME_small.csv`.

    Args:
        filename: the path without ".csv".
        ratio: the distance of the rows.
    """
    with gfile.GFile(filename, "r") as file:
        lines = file.read().splitlines(keepends=True)
    with gfile.GFile(filename.replace(".", "_small."), "w") as file:
        file.write("".join(lines[::ratio]))


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file that the directory has; weft fetches nothing.

    Args:
        filename: its name.
        work_directory: the directory.
        source_url: where it can be had; the error names it.

    Raises:
        NotFoundError: the file is not there.
    """
    path = os.path.join(work_directory, filename)
    if gfile.Exists(path):
        return path
    raise NotFoundError.of(f"{path} is not there, and weft does not download: fetch it from {source_url} first")


def load_iris(data_path: str | None = None) -> Dataset:
    """The 150 irises: four lengths in cm and the species 0 to 2 of each; from a CSV file if one is given.

    Args:
        data_path: the path of the file.

    Raises:
        NotFoundError: no file is given, and scikit-learn, which has the table, is not installed.
    """
    if data_path is not None:
        return load_csv_with_header(data_path, np.int64, np.float64)
    try:
        irises = importlib.import_module("sklearn.datasets").load_iris()
    except ImportError as error:
        raise NotFoundError.of(
            "load_iris: install scikit-learn, which has the table, or give the path of iris.csv as data_path"
        ) from error
    data = irises.data.copy()
    for row, column, value in _UCI_IRISES:
        data[row, column] = value
    return Dataset(data, np.asarray(irises.target, np.int64))


def load_boston(data_path: str | None = None) -> Dataset:
    """The houses of Boston of a CSV file: 13 features and the price of each.

    Args:
        data_path: the path of the file.

    Raises:
        NotFoundError: no file is given; weft does not come with one.
    """
    if data_path is None:
        raise NotFoundError.of(
            "load_boston: weft does not come with this table; give the path of boston_house_prices.csv as data_path"
        )
    return load_csv_with_header(data_path, np.float64, np.float64)


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Dataset:
    """The data set of a name, 'iris' or 'boston'; ValueError for another.

    Args:
        name: the name.
        size, test_with_fake_data: kept for texts of other data sets; these two have no effect here.
    """
    loaders = {"iris": load_iris, "boston": load_boston}
    if name not in loaders:
        raise ValueError(f"Name of dataset is not found: {name}")
    return loaders[name]()

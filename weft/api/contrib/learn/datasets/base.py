"""tf.contrib.learn.datasets.base: CSV files as arrays. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.datasets import Dataset as Dataset
from weft.estimators.learn.datasets import Datasets as Datasets
from weft.estimators.learn.datasets import load_boston as load_boston
from weft.estimators.learn.datasets import load_csv_with_header as load_csv_with_header
from weft.estimators.learn.datasets import load_csv_without_header as load_csv_without_header
from weft.estimators.learn.datasets import load_iris as load_iris
from weft.estimators.learn.datasets import maybe_download as maybe_download
from weft.estimators.learn.datasets import shrink_csv as shrink_csv

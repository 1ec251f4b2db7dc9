"""tf.contrib.learn.datasets: small data sets from local files. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.learn.datasets import base as base
from weft.api.contrib.learn.datasets import mnist as mnist
from weft.estimators.learn.datasets import load_boston as load_boston
from weft.estimators.learn.datasets import load_dataset as load_dataset
from weft.estimators.learn.datasets import load_iris as load_iris

"""tf.contrib.learn.python.learn.datasets: the data sets by their inner path. This module only re-exports."""

from __future__ import annotations

from weft.api.contrib.learn.datasets import load_boston as load_boston
from weft.api.contrib.learn.datasets import load_dataset as load_dataset
from weft.api.contrib.learn.datasets import load_iris as load_iris
from weft.api.contrib.learn.python.learn.datasets import base as base
from weft.api.contrib.learn.python.learn.datasets import mnist as mnist

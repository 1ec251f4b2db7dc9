"""The irises as inputs of tf.contrib.learn's estimators, which programs try those with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.estimators.learn.datasets import Dataset, load_iris
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.constant import constant


def get_quantile_based_buckets(feature_values: Sequence[float], num_buckets: int) -> list[float]:
    """The boundaries between buckets that have equally many values.

    Args:
        feature_values: the values of a feature.
        num_buckets: how many boundaries.
    """
    return list(np.percentile(np.array(feature_values), [100 * (i + 1.0) / (num_buckets + 1.0) for i in range(num_buckets)]))


def prepare_iris_data_for_logistic_regression() -> Dataset:
    """The 100 irises of the first two species."""
    irises = load_iris()
    rows = np.where(irises.target < 2)
    return Dataset(irises.data[rows], irises.target[rows])


def iris_input_multiclass_fn() -> tuple[dict[str, Tensor], Tensor]:
    """All irises: `feature` is `[150, 4]` float32, the species `[150, 1]` int32."""
    return _inputs(load_iris())


def iris_input_logistic_fn() -> tuple[dict[str, Tensor], Tensor]:
    """The irises of the first two species: `feature` is `[100, 4]` float32, the species `[100, 1]` int32."""
    return _inputs(prepare_iris_data_for_logistic_regression())


def _inputs(irises: Dataset) -> tuple[dict[str, Tensor], Tensor]:
    features = {"feature": constant(irises.data, dtypes.float32)}
    return features, constant(irises.target, dtypes.int32, shape=(len(irises.target), 1))

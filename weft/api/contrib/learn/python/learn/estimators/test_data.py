"""test_data: the irises as inputs. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.irises import get_quantile_based_buckets as get_quantile_based_buckets
from weft.estimators.learn.irises import iris_input_logistic_fn as iris_input_logistic_fn
from weft.estimators.learn.irises import iris_input_multiclass_fn as iris_input_multiclass_fn
from weft.estimators.learn.irises import prepare_iris_data_for_logistic_regression as prepare_iris_data_for_logistic_regression

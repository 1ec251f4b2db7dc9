"""tf.contrib.learn.models: a linear map with its loss. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.simple_models import linear_regression as linear_regression
from weft.estimators.learn.simple_models import linear_regression_zero_init as linear_regression_zero_init
from weft.estimators.learn.simple_models import logistic_regression as logistic_regression
from weft.estimators.learn.simple_models import logistic_regression_zero_init as logistic_regression_zero_init

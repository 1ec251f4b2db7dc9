"""estimator: models as functions. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.estimator import BaseEstimator as BaseEstimator
from weft.estimators.learn.estimator import Estimator as Estimator
from weft.estimators.learn.estimator import SKCompat as SKCompat
from weft.estimators.learn.real_valued import infer_real_valued_columns_from_input as infer_real_valued_columns_from_input
from weft.estimators.learn.real_valued import infer_real_valued_columns_from_input_fn as infer_real_valued_columns_from_input_fn

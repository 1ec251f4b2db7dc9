"""estimator: models as functions. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.estimator import BaseEstimator as BaseEstimator
from weft.estimators.learn.estimator import Estimator as Estimator
from weft.estimators.learn.estimator import SKCompat as SKCompat

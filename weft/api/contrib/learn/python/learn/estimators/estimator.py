"""estimator: models as functions. This module only re-exports."""

from __future__ import annotations

from weft.estimator.learn.estimator import BaseEstimator as BaseEstimator
from weft.estimator.learn.estimator import Estimator as Estimator
from weft.estimator.learn.estimator import SKCompat as SKCompat

"""experiment: an estimator with its inputs. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.experiment import Experiment as Experiment

"""metric_spec: metrics of evaluations. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.metric_spec import MetricSpec as MetricSpec

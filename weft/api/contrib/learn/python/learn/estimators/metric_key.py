"""metric_key: the names of metrics. This module only re-exports."""

from __future__ import annotations

from weft.estimators.learn.keys import MetricKey as MetricKey

"""tf.contrib.eager.metrics: metrics that sum up in variables of their own. This module only re-exports."""

from __future__ import annotations

from weft.training.contributed.metric_objects import Accuracy as Accuracy
from weft.training.contributed.metric_objects import BinaryAccuracy as BinaryAccuracy
from weft.training.contributed.metric_objects import CategoricalAccuracy as CategoricalAccuracy
from weft.training.contributed.metric_objects import Mean as Mean
from weft.training.contributed.metric_objects import Metric as Metric
from weft.training.contributed.metric_objects import SparseAccuracy as SparseAccuracy

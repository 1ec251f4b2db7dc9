"""Types that estimators pass around and only the program knows: features, labels, parameters, results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from weft.framework.building.aliases import Nest
from weft.framework.nodes.operation import Tensor

# A tensor, or a dict or structure of tensors.
Features: TypeAlias = Nest
Labels: TypeAlias = Nest
# What the program gave as `params`; mostly a dict.
Params: TypeAlias = Any
# Returns a Dataset, features, or a pair of features and labels; takes any of mode, params and config.
InputFn: TypeAlias = Callable[..., Nest]
# Takes features and any of labels, mode, params and config; returns an EstimatorSpec.
ModelFn: TypeAlias = Callable[..., Nest]
# Metrics by name: numbers, arrays, or summaries as bytes.
Metrics: TypeAlias = dict[str, Any]
# Pairs of a metric's value and its update by the metric's name.
MetricOps: TypeAlias = dict[str, tuple[Tensor, Nest]]
# What TF_CONFIG says, as JSON gives it.
Settings: TypeAlias = Mapping[str, Any]
# A table whose keys are names, tuples or tensors: metrics that programs ask for, values that were fetched.
ByAnyKey: TypeAlias = Mapping[Any, Any]

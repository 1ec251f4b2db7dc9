"""The metrics of heads, weighted as their losses are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from weft.framework.building.aliases import Nest
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.models.metrics.mean import accuracy, mean
from weft.models.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from weft.models.weights_broadcast import broadcast_weights
from weft.ops.array.shape_ops import squeeze
from weft.ops.math.casting import to_float
from weft.ops.math.comparison import greater_equal, maximum

# A metric's value and its update.
Pair: TypeAlias = tuple[Tensor, Nest]
_Weights: TypeAlias = Tensor | float


def weighted_mean(values: Tensor, weights: _Weights, name: str) -> Pair:
    """The mean of labels or predictions."""
    values = to_float(values)
    return mean(values, weights=broadcast_weights(weights, values), name=name)


def weighted_auc(labels: Tensor, predictions: Tensor, weights: _Weights, curve: str, name: str) -> Pair:
    """The area under a curve."""
    predictions = to_float(predictions)
    return auc(labels, predictions, weights=broadcast_weights(weights, predictions), curve=curve, name=name)


def accuracy_baseline(labels_mean: Pair) -> Pair:
    """The accuracy of always answering the more frequent one of two classes, from the mean of the labels."""
    with get_default_graph().name_scope("accuracy_baseline"):
        value, update = labels_mean
        return maximum(value, 1.0 - value, name="value"), maximum(update, 1 - update, name="update_op")


def accuracy_at(labels: Tensor, predictions: Tensor, weights: _Weights, threshold: float, name: str) -> Pair:
    """The accuracy of answering the second of two classes from a probability on."""
    return accuracy(labels, to_float(greater_equal(predictions, threshold)), weights=weights, name=name)


def precision_at(labels: Tensor, predictions: Tensor, weights: _Weights, threshold: float, name: str) -> Pair:
    """The precision of answering the second of two classes above a probability."""
    return _single(precision_at_thresholds, labels, predictions, weights, threshold, name)


def recall_at(labels: Tensor, predictions: Tensor, weights: _Weights, threshold: float, name: str) -> Pair:
    """The recall of answering the second of two classes above a probability."""
    return _single(recall_at_thresholds, labels, predictions, weights, threshold, name)


def _single(
    metric: Callable[..., Pair], labels: Tensor, predictions: Tensor, weights: _Weights, threshold: float, name: str
) -> Pair:
    value, update = metric(labels, predictions, thresholds=(threshold,), weights=weights, name=name)
    return squeeze(value), squeeze(update)

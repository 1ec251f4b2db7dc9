"""Metrics of forests by their names, and the predictions that they look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from weft.estimators.learn.keys import PredictionKey
from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models import logit_losses, prediction_losses
from weft.models.metrics.counts import precision, recall
from weft.models.metrics.mean import accuracy, mean
from weft.models.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from weft.ops.array.filling import one_hot
from weft.ops.array.padding import slice_of
from weft.ops.array.shape_ops import shape, squeeze
from weft.ops.array.topk import in_top_k
from weft.ops.math.casting import cast
from weft.ops.math.elementwise import squared_difference
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum

INFERENCE_PROB_NAME: Final = PredictionKey.PROBABILITIES
INFERENCE_PRED_NAME: Final = PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME: Final = "global_feature_importance"

Metric: TypeAlias = Callable[..., Nest]


def _top_k_of(k: int) -> Metric:
    def top_k(probabilities: Tensor, targets: Tensor) -> Nest:
        classes = cast(targets, dtypes.int32)
        if len(classes.get_shape()) > 1:
            classes = squeeze(classes, axis=[1])
        return mean(in_top_k(probabilities, classes, k))

    return top_k


def _accuracy(predictions: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    return accuracy(labels=targets, predictions=predictions, weights=weights)


def _r2(probabilities: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    known = cast(targets, dtypes.float32)
    total = reduce_sum(squared_difference(known, reduce_mean(known, 0)), 0)
    residual = reduce_sum(squared_difference(known, probabilities), 0)
    return mean(1 - reduce_sum(residual / total), weights=weights)


def _one_hot_of(targets: Tensor, probabilities: Tensor) -> Tensor:
    return one_hot(cast(squeeze(targets, axis=[1]), dtypes.int32), shape(probabilities)[1])


def _sigmoid_entropy(probabilities: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    return mean(logit_losses.sigmoid_cross_entropy(_one_hot_of(targets, probabilities), probabilities), weights=weights)


def _softmax_entropy(probabilities: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    return mean(logit_losses.sparse_softmax_cross_entropy(cast(targets, dtypes.int32), probabilities), weights=weights)


def _predictions(predictions: Tensor, targets: Tensor, **kwargs: TensorLike) -> Nest:
    return predictions


def _class_log_loss(probabilities: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    return mean(prediction_losses.log_loss(_one_hot_of(targets, probabilities), probabilities), weights=weights)


def _precision(predictions: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    return precision(labels=targets, predictions=predictions, weights=weights)


def _recall(predictions: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    return recall(labels=targets, predictions=predictions, weights=weights)


def _second_class(probabilities: Tensor) -> Tensor:
    return slice_of(probabilities, [0, 1], [-1, 1])


def _at_thresholds(metric: Metric) -> Metric:
    def found(predictions: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
        thresholds = np.arange(0, 1, 0.01, dtype=np.float32)
        return metric(labels=targets, predictions=_second_class(predictions), thresholds=thresholds, weights=weights)

    return found


def _auc(probs: Tensor, targets: Tensor, weights: TensorLike | None = None) -> Nest:
    return auc(labels=targets, predictions=_second_class(probs), weights=weights)


# The metric, and the prediction that it looks at.
_METRICS: Final[dict[str, tuple[Metric, str]]] = {
    "auc": (_auc, INFERENCE_PROB_NAME),
    "sigmoid_entropy": (_sigmoid_entropy, INFERENCE_PROB_NAME),
    "softmax_entropy": (_softmax_entropy, INFERENCE_PROB_NAME),
    "accuracy": (_accuracy, INFERENCE_PRED_NAME),
    "r2": (_r2, PredictionKey.SCORES),
    "predictions": (_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": (_class_log_loss, INFERENCE_PROB_NAME),
    "precision": (_precision, INFERENCE_PRED_NAME),
    "precision_at_thresholds": (_at_thresholds(precision_at_thresholds), INFERENCE_PROB_NAME),
    "recall": (_recall, INFERENCE_PRED_NAME),
    "recall_at_thresholds": (_at_thresholds(recall_at_thresholds), INFERENCE_PROB_NAME),
    "top_5": (_top_k_of(5), INFERENCE_PROB_NAME),
}


def get_metric(metric_name: str) -> Metric:
    """The metric of a name: a function of a prediction and the labels.

    Args:
        metric_name: the name, such as `accuracy` or `auc`.

    Raises:
        KeyError: there is no such metric.
    """
    return _METRICS[metric_name][0]


def get_prediction_key(metric_name: str) -> str:
    """The name of the prediction that a metric looks at.

    Args:
        metric_name: the name of the metric.

    Raises:
        KeyError: there is no such metric.
    """
    return _METRICS[metric_name][1]

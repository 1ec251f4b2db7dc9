"""tf.contrib.metrics: streaming metrics by their former names, predictions first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft.framework.aliases import TensorLike
from weft.models.metrics import counts, thresholds
from weft.models.metrics import mean as _mean
from weft.models.metrics.confusion_matrix import confusion_matrix as confusion_matrix
from weft.models.metrics.mean import mean as _mean_mean
from weft.models.metrics.mean import mean_tensor as _mean_tensor
from weft.ops.sparse.set_operations import set_difference as set_difference
from weft.ops.sparse.set_operations import set_intersection as set_intersection
from weft.ops.sparse.set_operations import set_size as set_size
from weft.ops.sparse.set_operations import set_union as set_union

# Under a name of its own: type checkers take a renamed import for the module's private business.
streaming_mean = _mean_mean
streaming_mean_tensor = _mean_tensor

__all__ = ["aggregate_metric_map", "aggregate_metrics", "streaming_mean", "streaming_mean_tensor"]


def _with_predictions_first(metric: Callable[..., object]) -> Callable[..., Any]:
    def streaming(predictions: TensorLike, labels: TensorLike, *args: object, **kwargs: object) -> Any:
        return metric(labels, predictions, *args, **kwargs)

    streaming.__name__ = f"streaming_{metric.__name__}"
    streaming.__doc__ = f"`tf.metrics.{metric.__name__}` with the predictions before the labels."
    return streaming


streaming_accuracy = _with_predictions_first(_mean.accuracy)
streaming_auc = _with_predictions_first(thresholds.auc)
streaming_precision = _with_predictions_first(counts.precision)
streaming_recall = _with_predictions_first(counts.recall)
streaming_true_positives = _with_predictions_first(counts.true_positives)
streaming_true_negatives = _with_predictions_first(counts.true_negatives)
streaming_false_positives = _with_predictions_first(counts.false_positives)
streaming_false_negatives = _with_predictions_first(counts.false_negatives)
streaming_mean_absolute_error = _with_predictions_first(_mean.mean_absolute_error)
streaming_mean_squared_error = _with_predictions_first(_mean.mean_squared_error)
streaming_root_mean_squared_error = _with_predictions_first(_mean.root_mean_squared_error)
streaming_mean_iou = _with_predictions_first(counts.mean_iou)
streaming_mean_cosine_distance = _with_predictions_first(_mean.mean_cosine_distance)
streaming_mean_relative_error = _with_predictions_first(_mean.mean_relative_error)
streaming_precision_at_thresholds = _with_predictions_first(thresholds.precision_at_thresholds)
streaming_recall_at_thresholds = _with_predictions_first(thresholds.recall_at_thresholds)
streaming_true_positives_at_thresholds = _with_predictions_first(thresholds.true_positives_at_thresholds)
streaming_true_negatives_at_thresholds = _with_predictions_first(thresholds.true_negatives_at_thresholds)
streaming_false_positives_at_thresholds = _with_predictions_first(thresholds.false_positives_at_thresholds)
streaming_false_negatives_at_thresholds = _with_predictions_first(thresholds.false_negatives_at_thresholds)
streaming_sensitivity_at_specificity = _with_predictions_first(thresholds.sensitivity_at_specificity)
streaming_specificity_at_sensitivity = _with_predictions_first(thresholds.specificity_at_sensitivity)
streaming_percentage_less = _mean.percentage_below


def aggregate_metrics(*value_update_tuples: object) -> tuple[list[Any], list[Any]]:
    """The values and the updates of several metrics; ValueError without any."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of several metrics by name."""
    pairs = names_to_tuples.items()
    return {name: value for name, (value, _) in pairs}, {name: update for name, (_, update) in pairs}

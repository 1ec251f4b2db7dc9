"""tf.contrib.metrics: streaming metrics by their former names, predictions first."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics import agreement, counts, curves, operating_points, thresholds, top_k
from weft.models.metrics import mean as _mean
from weft.models.metrics.agreement import cohen_kappa as cohen_kappa
from weft.models.metrics.agreement import count as count
from weft.models.metrics.agreement import f1_score as f1_score
from weft.models.metrics.collected import concatenated as _concatenated
from weft.models.metrics.confusion_matrix import confusion_matrix as confusion_matrix
from weft.models.metrics.curves import curve_points as _curve_points
from weft.models.metrics.curves import precision_at_recall as precision_at_recall
from weft.models.metrics.curves import precision_recall_at_equal_thresholds as precision_recall_at_equal_thresholds
from weft.models.metrics.curves import recall_at_precision as recall_at_precision
from weft.models.metrics.mean import mean as _mean_mean
from weft.models.metrics.mean import mean_tensor as _mean_tensor
from weft.models.metrics.state import Metric
from weft.models.metrics.whole_auc import auc_with_confidence_intervals as auc_with_confidence_intervals
from weft.models.metrics.whole_auc import dynamic_auc as _dynamic_auc
from weft.ops.array.filling import ones_like
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.math.division import div
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum
from weft.ops.sparse.set_operations import set_difference as set_difference
from weft.ops.sparse.set_operations import set_intersection as set_intersection
from weft.ops.sparse.set_operations import set_size as set_size
from weft.ops.sparse.set_operations import set_union as set_union

# Under a name of its own: type checkers take a renamed import for the module's private business.
streaming_mean = _mean_mean
streaming_mean_tensor = _mean_tensor

__all__ = ["aggregate_metric_map", "aggregate_metrics", "streaming_mean", "streaming_mean_tensor"]


def _with_predictions_first(metric: Callable[..., Any]) -> Callable[..., tuple[Tensor, Tensor]]:
    def streaming(predictions: TensorLike, labels: TensorLike, *args: object, **kwargs: object) -> tuple[Tensor, Tensor]:
        value, update = metric(labels, predictions, *args, **kwargs)
        return value, update

    streaming.__name__ = f"streaming_{metric.__name__}"
    told = (inspect.getdoc(metric) or "").partition("\n\n")[2]
    streaming.__doc__ = f"The results of `tf.metrics.{metric.__name__}`, with the predictions before the labels.\n\n{told}"
    signature = inspect.signature(metric)
    labels_too, predictions_too, *others = signature.parameters.values()
    streaming.__signature__ = signature.replace(parameters=[predictions_too, labels_too, *others])  # type: ignore[attr-defined]
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
streaming_sensitivity_at_specificity = _with_predictions_first(operating_points.sensitivity_at_specificity)
streaming_specificity_at_sensitivity = _with_predictions_first(operating_points.specificity_at_sensitivity)
streaming_percentage_less = _mean.percentage_below
streaming_false_positive_rate = _with_predictions_first(curves.false_positive_rate)
streaming_false_negative_rate = _with_predictions_first(curves.false_negative_rate)
streaming_false_positive_rate_at_thresholds = _with_predictions_first(curves.false_positive_rate_at_thresholds)
streaming_false_negative_rate_at_thresholds = _with_predictions_first(curves.false_negative_rate_at_thresholds)
streaming_covariance = agreement.covariance
streaming_pearson_correlation = agreement.pearson_correlation
streaming_curve_points = _curve_points
streaming_concat = _concatenated
streaming_dynamic_auc = _dynamic_auc
streaming_recall_at_k = top_k.recall_of_one_at_k
streaming_sparse_recall_at_k = _with_predictions_first(top_k.recall_at_k)
streaming_sparse_precision_at_k = _with_predictions_first(top_k.precision_at_k)
streaming_sparse_average_precision_at_k = _with_predictions_first(top_k.average_precision_at_k)
streaming_sparse_average_precision_at_top_k = top_k.average_precision_at_top_k


def streaming_sparse_precision_at_top_k(
    top_k_predictions: TensorLike, labels: TensorLike, class_id: int | None = None, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of classes that were chosen before that are labels: `tf.metrics.precision_at_top_k`, predictions first.

    Args:
        top_k_predictions: `[..., k]` int64, the classes that were chosen.
        labels: int64 class numbers, `[..., number of labels]` or, for one label each, `[...]`.
        class_id: the only class to look at, an int; all when None.
        weights: a tensor that broadcasts to `labels` without their last dimension; each example counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.
    """
    collections = metrics_collections, updates_collections
    return top_k.precision_at_top_k(labels, top_k_predictions, None, class_id, weights, *collections, name)


def sparse_recall_at_top_k(
    labels: TensorLike, top_k_predictions: TensorLike, class_id: int | None = None, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of labels that are among the classes that were chosen before: `tf.metrics.recall_at_top_k` by its first name.

    Args:
        labels: int64 class numbers, `[..., number of labels]` or, for one label each, `[...]`.
        top_k_predictions: `[..., k]` int64, the classes that were chosen.
        class_id: the only class to look at, an int; all when None.
        weights: a tensor that broadcasts to `labels` without their last dimension; each example counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.
    """
    collections = metrics_collections, updates_collections
    return top_k.recall_at_top_k(labels, top_k_predictions, None, class_id, weights, *collections, name)


def accuracy(predictions: Tensor, labels: Tensor, weights: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The share of predictions that are their labels, in this batch alone.

    Args:
        predictions, labels: bools, integers or strings, `[...]`, of one type and shape.
        weights: floats that broadcast to them; each counts once when None.
        name: the name scope.

    Raises:
        ValueError: the labels are floats, or the types differ.
    """
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with get_default_graph().name_scope(name or "accuracy"):
        hits = cast(equal(predictions, labels), dtypes.float32)
        if weights is None:
            return reduce_mean(hits)
        counted = mul(weights, ones_like(hits))
        return div(reduce_sum(mul(hits, weights)), reduce_sum(counted))


def aggregate_metrics(*value_update_tuples: object) -> tuple[list[Any], list[Any]]:
    """The values and the updates of several metrics, a list each.

    Args:
        value_update_tuples: pairs of value and update operation, at least one.

    Raises:
        ValueError: there are none.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of several metrics by name.

    Args:
        names_to_tuples: pairs of value and update operation by name.

    Returns:
        A dict of the values and a dict of the updates.
    """
    pairs = names_to_tuples.items()
    return {name: value for name, (value, _) in pairs}, {name: update for name, (_, update) in pairs}

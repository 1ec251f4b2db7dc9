"""Metrics along curves: their points, one rate at a level of another, precision and recall at evenly spread thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.metrics.counts import false_negatives, false_positives, share_of, true_negatives, true_positives
from weft.models.metrics.state import Metric, aligned, metric_scope, metric_variable, published, so_far
from weft.models.metrics.thresholds import EPSILON, Counts, counts_at, precision_recall_of, roc_of, spread_thresholds
from weft.ops.array.constant import constant
from weft.ops.array.ranges import linspace
from weft.ops.array.shape_ops import reshape
from weft.ops.array.stacking import stack
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group
from weft.ops.debugging.checks import assert_greater_equal, assert_less_equal, assert_type
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import div
from weft.ops.math.reduce_functions import argmax, argmin, reduce_sum
from weft.ops.math.scans import cumsum
from weft.ops.math.unary import floor
from weft.ops.state.scatter_update import scatter_add
from weft.ops.variables.variable_scope import variable_scope


class PrecisionRecallData(NamedTuple):
    """Counts of decisions, precision and recall at thresholds, `[thresholds]` each."""

    tp: Tensor
    fp: Tensor
    tn: Tensor
    fn: Tensor
    precision: Tensor
    recall: Tensor
    thresholds: Tensor


def precision_recall_at_equal_thresholds(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, num_thresholds: int | None = None,
    use_locking: bool | None = None, name: str | None = None,
) -> tuple[PrecisionRecallData, Operation]:  # fmt: skip
    """Precision and recall at evenly spread thresholds from 0 to 1, where a prediction counts as yes from the threshold on.

    A batch is counted in buckets, once, however many thresholds there are.

    Args:
        labels: bools.
        predictions: floats in [0, 1] of the labels' shape.
        weights: a tensor that broadcasts to `labels`; each prediction counts once when None.
        num_thresholds: how many thresholds, 201 when None.
        use_locking: has no effect: updates do not get lost.
        name: the variable scope.

    Returns:
        A PrecisionRecallData of the predictions' type, and the operation that takes a batch in.

    Raises:
        TypeError: the labels are no bools.
        InvalidArgumentError: in a run, a prediction is not in [0, 1].
    """
    count = 201 if num_thresholds is None else num_thresholds
    labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
    assert_type(labels, dtypes.bool)
    default = "precision_recall_at_equal_thresholds"
    with metric_scope(name, default, (labels, predictions, weights)):
        checks = [
            assert_greater_equal(predictions, cast(0.0, predictions.dtype), message="predictions must be in [0, 1]"),
            assert_less_equal(predictions, cast(1.0, predictions.dtype), message="predictions must be in [0, 1]"),
        ]
        with get_default_graph().control_dependencies(checks):
            kind = predictions.dtype
            predictions, labels, given = aligned(predictions, labels, weights)
        # Ones are added up in float64: float32 would stop counting at some 16 million.
        factors = cast(convert_to_tensor(1.0) if given is None else given, dtypes.float64)
        truth = cast(labels, dtypes.float64)
        values, is_true, is_false = (reshape(each, [-1]) for each in (predictions, truth * factors, (1.0 - truth) * factors))
        places = cast(floor(values * (count - 1)), dtypes.int32)
        with variable_scope("variables"):
            buckets = [metric_variable([count], dtypes.float64, f"{part}_buckets") for part in ("tp", "fp")]
        with get_default_graph().name_scope("update_op"):
            shares = zip(buckets, (is_true, is_false), strict=True)
            updates = [scatter_add(bucket, places, share) for bucket, share in shares]
        hits, wrong = (
            cumsum(so_far(bucket), reverse=True, name=part) for bucket, part in zip(buckets, ("tp", "fp"), strict=True)
        )
        rest, missed = wrong[0] - wrong, hits[0] - hits
        least = constant(EPSILON, dtypes.float64)
        precision, recall = hits / maximum(least, hits + wrong), hits / maximum(least, hits + missed)
        found = (hits, wrong, rest, missed, precision, recall, linspace(0.0, 1.0, count))
        return PrecisionRecallData(*(cast(each, kind) for each in found)), group(*updates)


def recall_at_precision(
    labels: TensorLike, predictions: TensorLike, precision: float, weights: TensorLike | None = None,
    num_thresholds: int = 200, metrics_collections: Collections = None, updates_collections: Collections = None,
    name: str | None = None, strict_mode: bool = False,
) -> Metric:  # fmt: skip
    """The recall at the threshold where the precision is nearest to `precision`.

    Args:
        labels: true or false, or what becomes a bool.
        predictions: floats in [0, 1] of the labels' shape.
        precision: within [0, 1].
        weights: a tensor that broadcasts to `labels`; each prediction counts once when None.
        num_thresholds: how many thresholds are tried.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.
        strict_mode: whether the precision must not be less; the recall is 0 where it is at all thresholds.

    Raises:
        ValueError: the precision is another number.
    """
    if not 0 <= precision <= 1:
        raise ValueError(f"`precision` must be in the range [0, 1], got {precision}.")

    def recall_of(counts: Counts, part: str) -> Tensor:
        hits, missed = counts["tp"], counts["fn"]
        precisions = div(hits, hits + counts["fp"] + EPSILON)
        if strict_mode:
            place = argmax(div(1.0, precisions - precision + EPSILON), 0, output_type=dtypes.int32)
        else:
            place = argmin(absolute(precisions - precision), 0, output_type=dtypes.int32)

        def recall() -> Tensor:
            return div(hits[place], hits[place] + missed[place] + EPSILON, name=part)

        if not strict_mode:
            return recall()
        found: Tensor = cond(precisions[place] >= precision, recall, lambda: constant(0.0))
        return found

    with metric_scope(name, "recall_at_precision", (predictions, labels, weights)):
        found, update = _of_counts(recall_of, labels, predictions, num_thresholds, weights)
        return published(found, update, metrics_collections, updates_collections)


def precision_at_recall(
    labels: TensorLike, predictions: TensorLike, target_recall: float, weights: TensorLike | None = None,
    num_thresholds: int = 200, metrics_collections: Collections = None, updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:  # fmt: skip
    """The precision at the greatest threshold whose recall is not less than `target_recall`.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        target_recall: within [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        num_thresholds: how many thresholds, evenly spread over [0, 1], are tried.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the recall is another number, or the shapes are known not to fit.
    """
    if not 0 <= target_recall <= 1:
        raise ValueError(f"`target_recall` must be in the range [0, 1], got {target_recall}.")

    def precision_of(counts: Counts, part: str) -> Tensor:
        hits, wrong = counts["tp"], counts["fp"]
        recalls = div(hits, hits + counts["fn"] + EPSILON)
        place = reduce_sum(cast(recalls >= target_recall, dtypes.int64)) - 1
        found: Tensor = div(hits[place] + EPSILON, hits[place] + wrong[place] + EPSILON, name=part)
        return found

    with metric_scope(name, "precision_at_recall", (predictions, labels, weights)):
        found, update = _of_counts(precision_of, labels, predictions, num_thresholds, weights)
        return published(found, update, metrics_collections, updates_collections)


def _of_counts(
    of: Callable[[Counts, str], Tensor],
    labels: TensorLike,
    predictions: TensorLike,
    num_thresholds: int,
    weights: TensorLike | None,
) -> tuple[Tensor, Tensor]:
    """What `of` makes of the counts at even thresholds: of all so far, and of all with this batch."""
    thresholds = spread_thresholds(num_thresholds)
    values, updates = counts_at(labels, convert_to_tensor(predictions), thresholds, weights, is_checked=False)
    return of(values, "value"), of(updates, "update_op")


def curve_points(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, num_thresholds: int = 200,
    metrics_collections: Collections = None, updates_collections: Collections = None, curve: str = "ROC",
    name: str | None = None,
) -> tuple[Tensor, Operation]:  # fmt: skip
    """The points of the ROC or the precision-recall curve of all batches so far.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        num_thresholds: how many thresholds, evenly spread over [0, 1], have a point.
        metrics_collections, updates_collections: collections, or lists of them, that the points and the update operation are
            added to; none when None.
        curve: "ROC", points of false and true positive rate, or "PR", points of recall and precision.
        name: the variable scope of the metric's local variables.

    Returns:
        `[num_thresholds, 2]` float32, and the operation that takes a batch in.

    Raises:
        ValueError: `curve` is neither, or the shapes are known not to fit.
    """
    with metric_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        thresholds = spread_thresholds(num_thresholds)
        values, updates = counts_at(labels, convert_to_tensor(predictions), thresholds, weights, is_checked=False)
        points = stack(list(roc_of(values) if curve == "ROC" else precision_recall_of(values)), axis=1)
        update = group(*updates.values())
        published(points, update, metrics_collections, updates_collections)  # type: ignore[arg-type]
        return points, update


def false_positive_rate(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of false labels that are predicted as true; labels and predictions are taken as bools.

    Args:
        labels, predictions: tensors of one shape; numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
    """
    return _rate(False, labels, predictions, weights, metrics_collections, updates_collections, name)


def false_negative_rate(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of true labels that are predicted as false; labels and predictions are taken as bools.

    Args:
        labels, predictions: tensors of one shape; numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
    """
    return _rate(True, labels, predictions, weights, metrics_collections, updates_collections, name)


def _rate(
    of_true: bool, labels: TensorLike, predictions: TensorLike, weights: TensorLike | None,
    metrics_collections: Collections, updates_collections: Collections, name: str | None,
) -> Metric:  # fmt: skip
    default = f"false_{'negative' if of_true else 'positive'}_rate"
    with metric_scope(name, default, (predictions, labels, weights)):
        predictions, labels, weights = aligned(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
        wrong_of, right_of = (false_negatives, true_positives) if of_true else (false_positives, true_negatives)
        wrong, update_wrong = wrong_of(labels, predictions, weights)
        right, update_right = right_of(labels, predictions, weights)
        value, update = share_of(wrong, right, "value"), share_of(update_wrong, update_right, "update_op")
        return published(value, update, metrics_collections, updates_collections)


def false_positive_rate_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold the share of false labels with a greater prediction; `predictions` are in [0, 1].

    Args:
        labels: a tensor; numbers other than 0 are true.
        predictions: numbers of the same shape.
        thresholds: the thresholds, n numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The values, an [n] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the values after it.
    """
    return _rates("fp", "tn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def false_negative_rate_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold the share of true labels without a greater prediction; `predictions` are in [0, 1].

    Args:
        labels: a tensor; numbers other than 0 are true.
        predictions: numbers of the same shape.
        thresholds: the thresholds, n numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The values, an [n] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the values after it.
    """
    return _rates("fn", "tp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def _rates(
    wrong: str, right: str, labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float],
    weights: TensorLike | None, metrics_collections: Collections, updates_collections: Collections, name: str | None,
) -> Metric:  # fmt: skip
    default = f"false_{'positive' if wrong == 'fp' else 'negative'}_rate_at_thresholds"
    with metric_scope(name, default, (predictions, labels, weights)):
        found = counts_at(labels, convert_to_tensor(predictions), thresholds, weights, (wrong, right), is_checked=False)
        value, update = (
            div(each[wrong], EPSILON + each[wrong] + each[right], name=f"{wrong}r_{part}")
            for each, part in zip(found, ("value", "update_op"), strict=True)
        )
        return published(value, update, metrics_collections, updates_collections)

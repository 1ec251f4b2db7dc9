"""Metrics of probabilities at many thresholds: counts, precision, recall, and areas under curves.

Labels and predictions are `[...]`, of one shape; the metrics at thresholds are `[thresholds]`, all others scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics.state import Metric, aligned, as_float, metric_scope, metric_variable, published, so_far
from weft.models.weights_broadcast import broadcast_weights
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import reshape
from weft.ops.debugging.checks import assert_greater_equal, assert_less_equal
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, logical_and, logical_not, maximum, minimum
from weft.ops.math.division import div, div_no_nan
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log
from weft.ops.variables.assign import assign_add

EPSILON: Final = 1e-7
_SMALL: Final = 1e-6
_KINDS: Final = {
    "tp": ("true_positives", True, True), "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False), "fp": ("false_positives", False, True),
}  # fmt: skip

# For each kind of decision the counts at all thresholds, `[thresholds]` each.
Counts = Mapping[str, Any]


def counts_at(
    labels: TensorLike,
    predictions: Tensor,
    thresholds: Sequence[float],
    weights: TensorLike | None,
    kinds: Sequence[str] = ("tp", "fn", "tn", "fp"),
    is_checked: bool = True,
) -> tuple[Counts, Counts]:
    """The counts so far, and the operations that take a batch in and give the counts then.

    Args:
        labels: `[...]`, taken as bools.
        predictions: `[...]` floats.
        thresholds: what a prediction must exceed to be positive.
        weights: what each prediction counts; 1 when None.
        kinds: which counts are wanted.
        is_checked: whether runs refuse predictions that are not in [0, 1].
    """
    graph = get_default_graph()
    checks = (
        [
            assert_greater_equal(predictions, cast(0.0, predictions.dtype), message="predictions must be in [0, 1]"),
            assert_less_equal(predictions, cast(1.0, predictions.dtype), message="predictions must be in [0, 1]"),
        ]
        if is_checked
        else []
    )
    with graph.control_dependencies(checks):
        predictions, labels, factors = aligned(as_float(predictions), cast(labels, dtypes.bool), weights)
    chosen = {kind: _KINDS[kind] for kind in _KINDS if kind in kinds}
    has_negative = not all(prediction for _, _, prediction in chosen.values())
    has_false = not all(label for _, label, _ in chosen.values())
    # TensorFlow tiles all three to [thresholds, n], where the shape is broadcast here.
    nodes = 16 if predictions.shape.is_fully_defined() else 22
    with graph.node_count.as_many_as(nodes + has_negative + has_false):
        limits = reshape(constant(list(thresholds), dtypes.float32), [-1, 1])
        positive = greater(reshape(predictions, [1, -1]), limits)
        is_true = reshape(labels, [1, -1])
        predicted = {True: positive, False: logical_not(positive) if has_negative else None}
        labelled = {True: is_true, False: logical_not(is_true) if has_false else None}
    each = None
    if factors is not None:
        each = reshape(broadcast_weights(as_float(factors), predictions), [1, -1])
        graph.node_count.total += 2
    values: dict[str, Any] = {}
    updates: dict[str, Tensor] = {}
    for kind, (name, label, prediction) in chosen.items():
        variable = metric_variable([len(thresholds)], dtypes.float32, name)
        hits = as_float(logical_and(labelled[label], predicted[prediction]))
        updates[kind] = assign_add(variable, reduce_sum(hits if each is None else hits * each, 1))
        values[kind] = so_far(variable)
    return values, updates


def spread_thresholds(count: int) -> list[float]:
    """So many thresholds over [0, 1], the first below and the last above."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [-EPSILON, *inner, 1.0 + EPSILON]


def _kind_at_thresholds(
    kind: str, labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None,
    metrics_collections: Collections, updates_collections: Collections, name: str | None,
) -> Metric:  # fmt: skip
    with metric_scope(name, _KINDS[kind][0], (predictions, labels, weights)):
        values, updates = counts_at(labels, convert_to_tensor(predictions), thresholds, weights, (kind,))
        return published(identity(values[kind]), updates[kind], metrics_collections, updates_collections)


def true_positives_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold how often a greater prediction had a true label.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        thresholds: a list of numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        `[thresholds]` float32, and a tensor that takes in a batch whenever it is run and gives the values after it.

    Raises:
        ValueError: the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _kind_at_thresholds("tp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def false_negatives_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold how often a prediction that is not greater had a true label.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        thresholds: a list of numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        `[thresholds]` float32, and a tensor that takes in a batch whenever it is run and gives the values after it.

    Raises:
        ValueError: the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _kind_at_thresholds("fn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def true_negatives_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold how often a prediction that is not greater had a false label.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        thresholds: a list of numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        `[thresholds]` float32, and a tensor that takes in a batch whenever it is run and gives the values after it.

    Raises:
        ValueError: the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _kind_at_thresholds("tn", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def false_positives_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold how often a greater prediction had a false label.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        thresholds: a list of numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        `[thresholds]` float32, and a tensor that takes in a batch whenever it is run and gives the values after it.

    Raises:
        ValueError: the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _kind_at_thresholds("fp", labels, predictions, thresholds, weights, metrics_collections, updates_collections, name)


def _shares_at_thresholds(
    other: str, default: str, labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float],
    weights: TensorLike | None, metrics_collections: Collections, updates_collections: Collections, name: str | None,
) -> Metric:  # fmt: skip
    with metric_scope(name, default, (predictions, labels, weights)):
        values, updates = counts_at(labels, convert_to_tensor(predictions), thresholds, weights, ("tp", other))

        def share(counts: Counts, part: str) -> Tensor:
            return div(counts["tp"], EPSILON + counts["tp"] + counts[other], name=f"{default.split('_')[0]}_{part}")

        return published(share(values, "value"), share(updates, "update_op"), metrics_collections, updates_collections)


def precision_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold the share of greater predictions whose label is true.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        thresholds: a list of numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        `[thresholds]` float32, and a tensor that takes in a batch whenever it is run and gives the values after it.

    Raises:
        ValueError: the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _shares_at_thresholds(
        "fp", "precision_at_thresholds", labels, predictions, thresholds, weights, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


def recall_at_thresholds(
    labels: TensorLike, predictions: TensorLike, thresholds: Sequence[float], weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """For each threshold the share of true labels whose prediction is greater.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        thresholds: a list of numbers in [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        `[thresholds]` float32, and a tensor that takes in a batch whenever it is run and gives the values after it.

    Raises:
        ValueError: the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _shares_at_thresholds(
        "fn", "recall_at_thresholds", labels, predictions, thresholds, weights, metrics_collections, updates_collections,
        name,
    )  # fmt: skip


def auc(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, num_thresholds: int = 200,
    metrics_collections: Collections = None, updates_collections: Collections = None, curve: str = "ROC",
    name: str | None = None, summation_method: str = "trapezoidal", thresholds: Sequence[float] | None = None,
) -> Metric:  # fmt: skip
    """The area under a curve, approximated at thresholds.

    Args:
        labels: true or false, or what becomes a bool.
        predictions: floats in [0, 1] of the labels' shape.
        weights: a tensor that broadcasts to `labels`; each prediction counts once when None.
        num_thresholds: at how many thresholds.
        metrics_collections, updates_collections: where to add the value and the update operation.
        curve: "ROC", or "PR" for precision over recall.
        name: the variable scope.
        summation_method: "trapezoidal", "minoring" or "majoring", or "careful_interpolation" for PR curves.
        thresholds: further thresholds within (0, 1), in place of evenly spread ones.

    Returns:
        Two scalars of float32: the area, and the update operation's result.

    Raises:
        ValueError: the curve or the method is another one.
        InvalidArgumentError: in a run, a prediction is not in [0, 1].
    """
    with metric_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        rule = _area_rule(curve, summation_method)
        chosen = spread_thresholds(num_thresholds) if thresholds is None else [-EPSILON, *sorted(thresholds), 1.0 + EPSILON]
        values, updates = counts_at(labels, convert_to_tensor(predictions), chosen, weights)
        return published(rule(values, "value"), rule(updates, "update_op"), metrics_collections, updates_collections)


def _area_rule(curve: str, method: str) -> Callable[[Counts, str], Tensor]:
    if method == "careful_interpolation":
        if curve != "PR":
            raise ValueError(f"summation_method {method!r} is for curve 'PR' only, got {curve!r}")
        return _interpolated_area
    heights: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "trapezoidal": lambda a, b: (a + b) / 2.0, "minoring": minimum, "majoring": maximum,
    }  # fmt: skip
    if method not in heights:
        raise ValueError(f"Invalid summation_method: {method}")

    def area(counts: Counts, name: str) -> Tensor:
        x, y = roc_of(counts) if curve == "ROC" else precision_recall_of(counts)
        result: Tensor = reduce_sum(mul(x[:-1] - x[1:], heights[method](y[:-1], y[1:])), name=name)
        return result

    return area


def roc_of(counts: Counts) -> tuple[Tensor, Tensor]:
    """The false positive rate and the recall at each threshold."""
    hits = div(counts["tp"] + _SMALL, counts["tp"] + counts["fn"] + _SMALL)
    return div(counts["fp"], counts["fp"] + counts["tn"] + _SMALL), hits


def precision_recall_of(counts: Counts) -> tuple[Tensor, Tensor]:
    """Recall and precision at each threshold."""
    precision = div(counts["tp"] + _SMALL, counts["tp"] + counts["fp"] + _SMALL)
    return div(counts["tp"] + _SMALL, counts["tp"] + counts["fn"] + _SMALL), precision


def _interpolated_area(counts: Counts, name: str) -> Tensor:
    """The area under a PR curve whose true positives, not whose precision, go straight from threshold to threshold."""
    tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
    steps = tp[:-1] - tp[1:]
    positive = tp + fp
    slope = div_no_nan(steps, maximum(positive[:-1] - positive[1:], 0), name="prec_slope")
    intercept = tp[1:] - mul(slope, positive[1:])
    is_both = logical_and(positive[:-1] > 0, positive[1:] > 0)
    ratio = div_no_nan(positive[:-1], maximum(positive[1:], 0), name="recall_relative_ratio")
    ratio = where(is_both, ratio, ones_like(positive[1:]))
    gains = slope * (steps + intercept * log(ratio))
    shares = div_no_nan(gains, maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment")
    result: Tensor = reduce_sum(shares, name="interpolate_pr_auc")
    return result

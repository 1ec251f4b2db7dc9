"""Metrics of how far two things agree: kappa, covariance and correlation, the best F1 score; and a plain count."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Collections, TensorLike, VariableLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics.confusion_matrix import confusion_matrix
from weft.models.metrics.state import (
    Metric,
    aligned,
    as_float,
    float_weights,
    metric_scope,
    metric_variable,
    published,
    so_far,
)
from weft.models.metrics.thresholds import EPSILON, Counts, counts_at, spread_thresholds
from weft.models.weights_broadcast import broadcast_weights
from weft.ops.array.identity import identity
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import size, squeeze
from weft.ops.linalg.matrix_bands import matrix_diag_part
from weft.ops.math.casting import cast
from weft.ops.math.comparison import less_equal
from weft.ops.math.division import div, div_no_nan, truediv
from weft.ops.math.elementwise import add, mul, sub
from weft.ops.math.reduce_functions import reduce_max, reduce_sum
from weft.ops.math.unary import sqrt
from weft.ops.variables.assign import assign_add
from weft.ops.variables.variable import Variable


def count(
    values: TensorLike, weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """How many values there were so far, or the sum of their weights.

    Args:
        values: `[...]`, of any shape.
        weights: a tensor that broadcasts to `values`; each counts once when None.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.
    """
    with metric_scope(name, "count", (values, weights)):
        values = convert_to_tensor(values)
        total = metric_variable([], dtypes.float32, "count")
        number = as_float(size(values)) if weights is None else reduce_sum(float_weights(weights, as_float(values)))
        with get_default_graph().control_dependencies([values]):
            update = assign_add(total, number)
        return published(identity(so_far(total)), update, metrics_collections, updates_collections)


def cohen_kappa(
    labels: TensorLike, predictions_idx: TensorLike, num_classes: int, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """Cohen's kappa: how far two raters agree beyond what they would by chance.

    Args:
        labels: class numbers, `[n]` or `[n, 1]`.
        predictions_idx: class numbers, `[n]`.
        num_classes: how many classes there are, 2 at least.
        weights: `[n]`; each pair counts once when None.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.

    Returns:
        Kappa, a scalar float64, and the operation that takes the pairs in.

    Raises:
        ValueError: there are fewer than 2 classes, or the shapes do not fit.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with metric_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels = convert_to_tensor(labels)
        if labels.shape.with_rank_at_most(2).ndims == 2:
            labels = squeeze(labels, [-1])
        predictions, labels, weights = aligned(predictions_idx, labels, weights)
        kind = dtypes.int64 if weights is None or weights.dtype.is_integer else dtypes.float32
        table = confusion_matrix(labels, predictions, num_classes, kind, weights=weights)
        sums = {"po": matrix_diag_part(table), "pe_row": reduce_sum(table, axis=0), "pe_col": reduce_sum(table, axis=1)}
        variables = {part: metric_variable([num_classes], kind, part) for part in sums}
        updates = [assign_add(variables[part], found) for part, found in sums.items()]
        value = _kappa([so_far(each) for each in variables.values()], "value")
        update = _kappa(updates, "update_op")
        return published(value, update, metrics_collections, updates_collections)


def _kappa(sums: Sequence[VariableLike], name: str) -> Tensor:
    agreed, rows, columns = sums
    agreements, total = reduce_sum(agreed), reduce_sum(rows)
    by_chance = reduce_sum(div_no_nan(cast(rows * columns, dtypes.float64), cast(total, dtypes.float64)))
    beyond, most = (cast(each, dtypes.float64) - by_chance for each in (agreements, total))
    return div_no_nan(beyond, most, name=name)


def covariance(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The sample covariance of predictions and labels so far; NaN before there are two of them.

    Args:
        predictions, labels: `[...]` floats of one shape.
        weights: a tensor that broadcasts to `labels`, how often each pair counts; once when None.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.
    """
    with metric_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        names = ("count", "mean_prediction", "mean_label", "comoment")
        total, mean_prediction, mean_label, comoment = (metric_variable([], dtypes.float32, each) for each in names)
        factors = None if weights is None else broadcast_weights(as_float(weights), labels)
        number = as_float(size(labels)) if factors is None else reduce_sum(factors)
        # Pairs are merged by Chan's rule (1979), which loses less to rounding than sums of squares.
        updated = assign_add(total, number)
        before = sub(updated, number)
        apart, past = [], []
        for values, mean in ((predictions, mean_prediction), (labels, mean_label)):
            here = div_no_nan(reduce_sum(values if factors is None else mul(values, factors)), number)
            step = div_no_nan(mul(sub(here, mean), number), updated)
            apart.append(sub(values, here))
            past.append(sub(sub(assign_add(mean, step), step), here))
        residuals = mul(*apart)
        within = reduce_sum(residuals if factors is None else mul(residuals, factors))
        between = mul(mul(*past), div(mul(before, number), updated))
        update_comoment = assign_add(comoment, add(within, between))
        value = _unbiased(comoment, total, "covariance")
        with get_default_graph().control_dependencies([update_comoment]):
            update = _unbiased(comoment, total, "update_op")
        return published(value, update, metrics_collections, updates_collections)


def _unbiased(comoment: Variable, total: Variable, name: str) -> Tensor:
    few = less_equal(so_far(total), 1.0)
    found: Tensor = where(few, float("nan"), truediv(so_far(comoment), sub(so_far(total), 1.0)), name=name)
    return found


def pearson_correlation(
    predictions: TensorLike, labels: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """Pearson's correlation of predictions and labels so far, in [-1, 1]; NaN before there are two pairs.

    Args:
        predictions, labels: `[...]` floats of one shape.
        weights: a tensor that broadcasts to `labels`, how often each pair counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    with metric_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        both, update_both = covariance(predictions, labels, weights, name="covariance")
        first, update_first = covariance(predictions, predictions, weights, name="variance_predictions")
        second, update_second = covariance(labels, labels, weights, name="variance_labels")
        value = truediv(both, mul(sqrt(first), sqrt(second)), name="pearson_r")
        update = truediv(update_both, mul(sqrt(update_first), sqrt(update_second)), name="update_op")
        return published(value, update, metrics_collections, updates_collections)


def f1_score(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, num_thresholds: int = 200,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The best F1 score, `2 precision recall / (precision + recall)`, of answering yes above a threshold.

    Args:
        labels: true or false, or what becomes a bool.
        predictions: floats in [0, 1] of the labels' shape.
        weights: a tensor that broadcasts to `labels`; each prediction counts once when None.
        num_thresholds: how many thresholds are tried.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.

    Raises:
        ValueError: the shapes do not fit.
        InvalidArgumentError: in a run, a prediction is not in [0, 1].
    """
    with metric_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        values, updates = counts_at(labels, predictions, spread_thresholds(num_thresholds), weights, ("tp", "fp", "fn"))
        return published(_best_f1(values), _best_f1(updates), metrics_collections, updates_collections)


def _best_f1(counts: Counts) -> Tensor:
    hits = counts["tp"]
    precision = div(hits, add(add(EPSILON, hits), counts["fp"]))
    recall = div(hits, add(add(EPSILON, hits), counts["fn"]))
    found: Tensor = reduce_max(div(mul(mul(2.0, precision), recall), add(add(precision, recall), EPSILON)))
    return found

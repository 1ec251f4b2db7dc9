"""One rate of a binary classifier at the threshold where another has a wanted value."""

from __future__ import annotations

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics.state import Metric, metric_scope, published
from weft.models.metrics.thresholds import EPSILON, Counts, counts_at, spread_thresholds
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import div
from weft.ops.math.reduce_functions import argmax, argmin, reduce_min
from weft.ops.math.scans import cumsum


def _best_at(
    fixed: tuple[str, str], best: tuple[str, str], default: str, labels: TensorLike, predictions: TensorLike,
    level: float, weights: TensorLike | None, num_thresholds: int, metrics_collections: Collections,
    updates_collections: Collections, name: str | None, is_last: bool,
) -> Metric:  # fmt: skip
    """One rate, at the first or last of the thresholds where another is nearest to a level."""
    if not 0 <= level <= 1:
        raise ValueError(f"`{default.rpartition('_')[2]}` must be in the range [0, 1], got {level}")
    with metric_scope(name, default, (predictions, labels, weights)):
        values, updates = counts_at(labels, convert_to_tensor(predictions), spread_thresholds(num_thresholds), weights)

        def rate(counts: Counts, part: str) -> Tensor:
            shares = div(counts[fixed[0]], counts[fixed[0]] + counts[fixed[1]] + EPSILON)
            if is_last:
                nearest = reduce_min(absolute(shares - level))
                is_nearest = equal(absolute(shares - level), nearest)
                place = argmax(cumsum(cast(is_nearest, dtypes.int64)), 0)
            else:
                place = argmin(absolute(shares - level), 0)
            place = cast(place, dtypes.int32)
            hits, misses = counts[best[0]], counts[best[1]]
            return div(hits[place], hits[place] + misses[place] + EPSILON, name=part)

        return published(rate(values, "value"), rate(updates, "update_op"), metrics_collections, updates_collections)


def sensitivity_at_specificity(
    labels: TensorLike, predictions: TensorLike, specificity: float, weights: TensorLike | None = None,
    num_thresholds: int = 200, metrics_collections: Collections = None, updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:  # fmt: skip
    """The true positive rate at the threshold where the true negative rate is nearest to `specificity`.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        specificity: the wanted true negative rate, within [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        num_thresholds: how many thresholds, evenly spread over [0, 1], are tried.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the specificity is another number, or the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _best_at(
        ("tn", "fp"), ("tp", "fn"), "sensitivity_at_specificity", labels, predictions, specificity, weights, num_thresholds,
        metrics_collections, updates_collections, name, False,
    )  # fmt: skip


def specificity_at_sensitivity(
    labels: TensorLike, predictions: TensorLike, sensitivity: float, weights: TensorLike | None = None,
    num_thresholds: int = 200, metrics_collections: Collections = None, updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:  # fmt: skip
    """The true negative rate at the threshold where the true positive rate is nearest to `sensitivity`.

    Args:
        labels: `[...]`, taken as bools.
        predictions: floats in [0, 1] of the labels' shape.
        sensitivity: the wanted true positive rate, within [0, 1].
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        num_thresholds: how many thresholds, evenly spread over [0, 1], are tried.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the sensitivity is another number, or the shapes are known not to fit.
        InvalidArgumentError: when run, a prediction is outside of [0, 1].
    """
    return _best_at(
        ("tp", "fn"), ("tn", "fp"), "specificity_at_sensitivity", labels, predictions, sensitivity, weights, num_thresholds,
        metrics_collections, updates_collections, name, True,
    )  # fmt: skip

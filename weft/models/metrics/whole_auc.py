"""The area under a curve of all predictions, each of them a threshold: its value, or its value with how sure it is."""

from __future__ import annotations

from statistics import NormalDist
from typing import Final, NamedTuple

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.models.metrics.collected import concatenated
from weft.models.metrics.state import aligned, as_float, float_weights, metric_scope
from weft.models.metrics.thresholds import EPSILON
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.gather_scatter import gather
from weft.ops.array.padding import pad
from weft.ops.array.selection import where
from weft.ops.array.sets import unique, unique_with_counts
from weft.ops.array.shape_ops import reshape, size
from weft.ops.array.tiling import reverse
from weft.ops.array.topk import top_k
from weft.ops.control_flow.cond import cond
from weft.ops.control_flow.ordering import group, no_op
from weft.ops.debugging.checks import assert_greater_equal, assert_less_equal
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater_equal, less, logical_and, logical_or
from weft.ops.math.elementwise import square
from weft.ops.math.reduce_functions import reduce_max, reduce_min, reduce_sum
from weft.ops.math.scans import cumsum
from weft.ops.math.segment import segment_sum
from weft.ops.math.unary import exp, log, sqrt

# How many nodes TensorFlow makes of them, without casts: the seeds of later random nodes come of the count.
_NODES_OF_ROC: Final = 294
_NODES_OF_PR: Final = 292
_NODES_OF_WEIGHTS: Final = 73
_NODES_OF_INTERVAL: Final = 674
_NODES_OF_LOGIT_INTERVAL: Final = 702
_NODES_OF_DIMENSIONS: Final = 3


class AucData(NamedTuple):
    """The area under the curve, and the ends of its confidence interval, float32 scalars."""

    auc: Tensor
    lower: Tensor
    upper: Tensor


def dynamic_auc(
    labels: TensorLike, predictions: TensorLike, curve: str = "ROC", metrics_collections: Collections = (),
    updates_collections: Collections = (), name: str | None = None, weights: TensorLike | None = None,
) -> tuple[Tensor, Operation]:  # fmt: skip
    """The area under a curve through the points of all predictions so far, by trapezoids.

    All labels and predictions are kept, in memory.

    Args:
        labels: 0 or 1, or bools, of the predictions' shape.
        predictions: any numbers, higher ones for label 1; they are compared as float64.
        curve: "ROC", or "PR" for precision and recall.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.
        weights: of the predictions' shape, none below 0; each prediction counts once when None.

    Returns:
        The area, a float64 scalar, 0 as long as only one of the labels was there; and the operation that takes a batch in.

    Raises:
        ValueError: the shapes differ, or there is no such curve.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with metric_scope(name, "dynamic_auc", ()):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        labels.shape.assert_is_compatible_with(predictions.shape)
        weights = None if weights is None else convert_to_tensor(weights)
        nodes = (_NODES_OF_ROC if curve == "ROC" else _NODES_OF_PR) + (0 if weights is None else _NODES_OF_WEIGHTS)
        graph = get_default_graph()
        with graph.node_count.as_many_as(nodes + _casts(labels, predictions, weights)):
            values, numbers = _flat(predictions, dtypes.float64), _flat(labels, dtypes.int64)
            with graph.control_dependencies(_checks(numbers)):
                kept, update = _kept(numbers, values, None if weights is None else _flat(weights, dtypes.float64))
                area = _area(*kept, curve)
        _publish(area, update, metrics_collections, updates_collections)
        return area, update


def auc_with_confidence_intervals(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None, alpha: float = 0.95,
    logit_transformation: bool = True, metrics_collections: Collections = (), updates_collections: Collections = (),
    name: str | None = None,
) -> tuple[AucData, Tensor]:  # fmt: skip
    """The area under the ROC curve of all predictions so far, with a confidence interval from the spread of their placements.

    All labels and predictions are kept, in memory. The interval is that of DeLong (1988), computed as by Sun and Xu (2014).

    Args:
        labels: 0 or 1, or bools, of the predictions' shape but for a last dimension of 1.
        predictions: any numbers, higher ones for label 1; they are compared as float64.
        weights: a tensor that broadcasts to the predictions; each counts once when None.
        alpha: the level of the interval, between 0 and 1.
        logit_transformation: whether the interval is that of the area's logit, which keeps it within [0, 1].
        metrics_collections, updates_collections: where to add the values and the update operation.
        name: the variable scope.

    Returns:
        AucData of `auc`, `lower` and `upper`, which are 0 in a run whose own batch has only one of the labels, or weights of
        less than 1 together; and the operation that takes a batch in and gives whether its weights are 1 at least.

    Raises:
        ValueError: the shapes differ, or the level is none.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with metric_scope(name, "auc_with_confidence_intervals", (labels, predictions, weights)):
        given = ones_like(predictions) if weights is None else convert_to_tensor(weights)
        predictions, labels, same_rank = aligned(predictions, labels, given)
        graph = get_default_graph()
        nodes = _NODES_OF_LOGIT_INTERVAL if logit_transformation else _NODES_OF_INTERVAL
        if same_rank is not None and same_rank.shape.ndims is None:
            nodes += _NODES_OF_DIMENSIONS
        with graph.node_count.as_many_as(nodes + _casts(labels, predictions, None)):
            counted = _flat(float_weights(given, as_float(predictions)), dtypes.float32)
            values, numbers = _flat(predictions, dtypes.float64), _flat(labels, dtypes.int64)
            with graph.control_dependencies(_checks(numbers)):
                kept, update = _kept(numbers, values, counted)
                has_both = logical_and(equal(reduce_min(numbers), 0), equal(reduce_max(numbers), 1))
                is_enough = greater_equal(reduce_sum(counted), 1.0)
                updated: Tensor = cond(is_enough, lambda: update, no_op)
                data = _placed(*kept, alpha, logit_transformation)
                is_valid = logical_and(has_both, is_enough)
                found = AucData(*cond(is_valid, lambda: list(data), lambda: [constant(0.0)] * 3))
        _publish(found, updated, metrics_collections, updates_collections)
        return found, updated


def _casts(labels: Tensor, predictions: Tensor, weights: Tensor | None) -> int:
    """How many of them are cast."""
    wanted = ((labels, dtypes.int64), (predictions, dtypes.float64), (weights, dtypes.float64))
    return sum(each is not None and each.dtype.base_dtype != dtype for each, dtype in wanted)


def _flat(tensor: Tensor, dtype: dtypes.DType) -> Tensor:
    return reshape(cast(tensor, dtype), [-1])


def _checks(labels: Tensor) -> list[Operation]:
    """What fails of labels that are neither 0 nor 1."""
    return [
        assert_greater_equal(labels, zeros_like(labels), message="labels must be 0 or 1, at least one is <0"),
        assert_less_equal(labels, ones_like(labels), message="labels must be 0 or 1, at least one is >1"),
    ]


def _kept(labels: Tensor, predictions: Tensor, weights: Tensor | None) -> tuple[tuple[Tensor, Tensor, Tensor], Operation]:
    """All labels, predictions and weights, `[n]` each, and the operation that takes a batch in."""
    values, update_values = concatenated(predictions, name="concat_preds")
    numbers, update_numbers = concatenated(labels, name="concat_labels")
    if weights is None:
        return (numbers, values, ones_like(numbers, dtype=dtypes.float64)), group(update_numbers, update_values)
    counts, update_counts = concatenated(weights, name="concat_weights")
    return (numbers, values, counts), group(update_numbers, update_values, update_counts)


def _publish(value: object, update: object, metrics_collections: Collections, updates_collections: Collections) -> None:
    graph = get_default_graph()
    for names, item in ((updates_collections, update), (metrics_collections, value)):
        if names:
            graph.add_to_collections(names, item)


def _area(labels: Tensor, predictions: Tensor, weights: Tensor, curve: str) -> Tensor:
    """The area under the curve: `[n] int64`, `[n] float64`, `[n] float64 -> [] float64`."""
    positives = where(labels > 0, weights, zeros_like(weights))
    total, total_positive = reduce_sum(weights), reduce_sum(positives)

    def area() -> Tensor:
        ordered, order = top_k(predictions, k=size(predictions))
        # The sums before each threshold, of which equal predictions have one together.
        splits = pad(cumsum(unique_with_counts(ordered).count), [[1, 0]])
        hits = _before(gather(positives, order), splits)
        chosen = _before(gather(weights, order), splits)
        if curve == "ROC":
            x, y = (chosen - hits) / (total - total_positive), hits / total_positive
        else:
            x, y = hits / total_positive, where(splits > 0, hits / chosen, ones_like(hits))
        return reduce_sum((y[1:] + y[:-1]) / 2.0 * abs(x[1:] - x[:-1]))

    has_one = logical_or(equal(total_positive, 0), equal(total_positive, total))
    found: Tensor = cond(has_one, lambda: constant(0, dtypes.float64), area)
    return found


def _before(values: Tensor, places: Tensor) -> Tensor:
    """The sum of the values before each place."""
    return gather(pad(cumsum(values), [[1, 0]]), places)


def _placed(labels: Tensor, predictions: Tensor, weights: Tensor, alpha: float, is_logit: bool) -> AucData:
    """The area and its interval: `[n] int64`, `[n] float64`, `[n] float32 -> [] float32` each."""
    ordered, order = top_k(predictions, k=size(predictions))
    # From the lowest prediction on; equal ones are one level.
    order = reverse(order, [0])
    levels = unique(reverse(ordered, [0])).idx
    is_one = as_float(gather(labels, order))
    counted = gather(weights, order)
    ones, zeros = counted * is_one, counted * (1.0 - is_one)
    total_one, total_zero = reduce_sum(ones), reduce_sum(zeros)
    placements = _placements(zeros, levels) * is_one + _placements(ones, levels) * (1.0 - is_one)
    by_zeros = reduce_sum(zeros * (1.0 - placements)) / (total_zero + EPSILON)
    by_ones = reduce_sum(ones * placements) / (total_one + EPSILON)
    area = where(less(total_zero, total_one), by_ones, by_zeros)
    spread_of_zeros = reduce_sum(zeros * square(1.0 - placements - by_zeros)) / (total_zero - 1.0 + EPSILON)
    spread_of_ones = reduce_sum(ones * square(placements - by_ones)) / (total_one - 1.0 + EPSILON)
    error = sqrt(spread_of_zeros / (total_zero + EPSILON) + spread_of_ones / (total_one + EPSILON))
    reach = NormalDist().inv_cdf((1.0 - alpha) / 2.0)
    if is_logit:
        logit, slope = log(area / (1.0 - area + EPSILON)), area * (1.0 - area + EPSILON)
        ends = [1.0 / (1.0 + exp(-(logit + sign * reach * (error / slope))) + EPSILON) for sign in (1, -1)]
    else:
        ends = [area + sign * reach * error for sign in (1, -1)]
    # Where all placements are alike there is no spread to tell of.
    is_sure = logical_or(equal(area, 1.0), equal(area, 0.0))
    return AucData(area, *(where(is_sure, area, end) for end in ends))


def _placements(others: Tensor, levels: Tensor) -> Tensor:
    """The share of the other label's weight below each prediction, with half of what is level with it."""
    sums = segment_sum(others, levels)
    shares = (cumsum(sums, exclusive=True) + sums / 2.0) / (reduce_sum(sums) + EPSILON)
    return gather(shares, levels)

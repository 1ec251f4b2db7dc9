"""Metrics that count right and wrong decisions: true and false positives and negatives, precision, recall, per class."""

from __future__ import annotations

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics.confusion_matrix import confusion_matrix
from weft.models.metrics.state import Metric, aligned, as_float, metric_scope, metric_variable, published, so_far
from weft.ops.array.filling import ones, ones_like
from weft.ops.array.identity import identity
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import rank, reshape, size
from weft.ops.debugging.checks import assert_type
from weft.ops.debugging.rank_checks import assert_rank_in
from weft.ops.linalg.matrix_parts import tensor_diag_part
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, logical_and, maximum, not_equal
from weft.ops.math.division import div, div_no_nan
from weft.ops.math.elementwise import mul
from weft.ops.math.reduce_functions import reduce_mean, reduce_sum
from weft.ops.state.scatter_update import scatter_add
from weft.ops.variables.assign import assign_add
from weft.ops.variables.variable import Variable


def _counted(
    hits: Tensor, weights: TensorLike | None, metrics_collections: Collections, updates_collections: Collections
) -> Metric:
    """The number, or the sum of the weights, of `hits` that were true."""
    assert_type(hits, dtypes.bool)
    count = metric_variable([], dtypes.float32, "count")
    values = as_float(hits)
    if weights is not None:
        weights = convert_to_tensor(weights)
        with get_default_graph().control_dependencies([assert_rank_in(weights, (0, rank(values)))]):
            values = mul(values, as_float(weights))
    return published(identity(so_far(count)), assign_add(count, reduce_sum(values)), metrics_collections, updates_collections)


def _decisions(
    label: bool, prediction: bool, default: str, labels: TensorLike, predictions: TensorLike,
    weights: TensorLike | None, metrics_collections: Collections, updates_collections: Collections, name: str | None,
) -> Metric:  # fmt: skip
    """The number of labels and predictions of these values."""
    with metric_scope(name, default, (predictions, labels, weights)):
        predictions, labels, weights = aligned(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
        hits = logical_and(equal(labels, label), equal(predictions, prediction))
        return _counted(hits, weights, metrics_collections, updates_collections)


def true_positives(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The number of examples with label and prediction both true.

    Args:
        labels, predictions: `[...]` of one shape, taken as bools: numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    return _decisions(
        True, True, "true_positives", labels, predictions, weights, metrics_collections, updates_collections, name
    )


def true_negatives(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The number of examples with label and prediction both false.

    Args:
        labels, predictions: `[...]` of one shape, taken as bools: numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    return _decisions(
        False, False, "true_negatives", labels, predictions, weights, metrics_collections, updates_collections, name
    )


def false_positives(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The number of examples with a true prediction and a false label.

    Args:
        labels, predictions: `[...]` of one shape, taken as bools: numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    return _decisions(
        False, True, "false_positives", labels, predictions, weights, metrics_collections, updates_collections, name
    )


def false_negatives(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The number of examples with a false prediction and a true label.

    Args:
        labels, predictions: `[...]` of one shape, taken as bools: numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    return _decisions(
        True, False, "false_negatives", labels, predictions, weights, metrics_collections, updates_collections, name
    )


def share_of(hits: Tensor, misses: Tensor, name: str) -> Tensor:
    """The share of hits among both, 0 while there are neither."""
    found: Tensor = where(hits + misses > 0, div(hits, hits + misses), 0, name=name)
    return found


def precision(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of true predictions whose label is true; 0 while there are none.

    Args:
        labels, predictions: `[...]` of one shape, taken as bools: numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    with metric_scope(name, "precision", (predictions, labels, weights)):
        predictions, labels, weights = aligned(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
        hits, update_hits = true_positives(labels, predictions, weights)
        wrong, update_wrong = false_positives(labels, predictions, weights)
        value, update = share_of(hits, wrong, "value"), share_of(update_hits, update_wrong, "update_op")
        return published(value, update, metrics_collections, updates_collections)


def recall(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of true labels that are predicted; 0 while there are none.

    Args:
        labels, predictions: `[...]` of one shape, taken as bools: numbers other than 0 are true.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    with metric_scope(name, "recall", (predictions, labels, weights)):
        predictions, labels, weights = aligned(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
        hits, update_hits = true_positives(labels, predictions, weights)
        missed, update_missed = false_negatives(labels, predictions, weights)
        value, update = share_of(hits, missed, "value"), share_of(update_hits, update_missed, "update_op")
        return published(value, update, metrics_collections, updates_collections)


def streaming_confusion_matrix(
    labels: TensorLike, predictions: TensorLike, num_classes: int, weights: TensorLike | None = None
) -> tuple[Variable, Tensor]:
    """How often each label was taken for each class so far: what metrics of several classes are made of.

    Args:
        labels, predictions: class numbers, of any shape.
        num_classes: how many classes there are.
        weights: what each prediction counts; 1 when None.

    Returns:
        The `[num_classes, num_classes]` float64 matrix, a metric variable with a row for each label, and the operation that
        adds the batch to it, whose value is the matrix after that.
    """
    matrix = metric_variable([num_classes, num_classes], dtypes.float64, "total_confusion_matrix")
    taken, actual = (cast(convert_to_tensor(each), dtypes.int64) for each in (predictions, labels))
    count = cast(num_classes, dtypes.int64)
    taken, actual = _in_a_row(taken), _in_a_row(actual)
    if weights is not None:
        weights = _in_a_row(convert_to_tensor(weights))
    return matrix, assign_add(matrix, confusion_matrix(actual, taken, count, dtypes.float64, weights=weights))


def _in_a_row(values: Tensor) -> Tensor:
    """The values as a vector; those that are known to have one dimension at most stay."""
    return reshape(values, [-1]) if values.dims is None or len(values.dims) > 1 else values


def mean_iou(
    labels: TensorLike, predictions: TensorLike, num_classes: int, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The mean over classes of intersection over union; the update operation gives the confusion matrix so far.

    Args:
        labels, predictions: class numbers, of any shape.
        num_classes: how many classes there are.
        weights, metrics_collections, updates_collections, name: as of `accuracy`.
    """
    with metric_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        matrix, update = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        return published(_mean_overlap(so_far(matrix)), update, metrics_collections, updates_collections)


def _mean_overlap(matrix: Variable) -> Tensor:
    rows, columns = as_float(reduce_sum(matrix, 0)), as_float(reduce_sum(matrix, 1))
    hits = as_float(tensor_diag_part(matrix))
    union = rows + columns - hits
    # A class that neither was predicted nor occurs does not count.
    present = reduce_sum(as_float(not_equal(union, 0)))
    shares = div(hits, where(union > 0, union, ones_like(union)))
    found: Tensor = where(present > 0, reduce_sum(shares, name="mean_iou") / present, 0)
    return found


def mean_per_class_accuracy(
    labels: TensorLike, predictions: TensorLike, num_classes: int, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The mean over classes of the accuracy within each.

    Args:
        labels, predictions: `[...]` of one shape, integer class numbers below `num_classes`.
        num_classes: the number of classes, an int.
        weights: a tensor that broadcasts to `labels`, how much each prediction counts; once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The mean, a [] float32 tensor, and a `[num_classes]` tensor that takes in a batch whenever it is run and gives the
        accuracy of each class after it.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    with metric_scope(name, "mean_accuracy", (predictions, labels, weights)):
        predictions, labels, weights = aligned(predictions, labels, weights)
        labels = _in_a_row(cast(labels, dtypes.int64))
        predictions = _in_a_row(predictions)
        total = metric_variable([num_classes], dtypes.float32, "total")
        count = metric_variable([num_classes], dtypes.float32, "count")
        each = ones([size(labels)], dtypes.float32)
        hits = as_float(equal(cast(predictions, dtypes.int64), labels))
        if weights is not None:
            weights = as_float(_in_a_row(weights))
            hits, each = hits * weights, each * weights
        update_total, update_count = scatter_add(total, labels, each), scatter_add(count, labels, hits)
        value = reduce_mean(div_no_nan(so_far(count), maximum(so_far(total), 0)), name="mean_accuracy")
        update = div_no_nan(update_count, maximum(update_total, 0), name="update_op")
        return published(value, update, metrics_collections, updates_collections)

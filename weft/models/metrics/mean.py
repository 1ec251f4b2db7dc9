"""Metrics that are means: of values, of errors, of hits."""

from __future__ import annotations

from collections.abc import Callable

from weft.framework.building.aliases import Collections, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.metrics.confusion_matrix import remove_squeezable_dimensions
from weft.models.metrics.state import Metric, aligned, as_float, float_weights, metric_scope, metric_variable, published, so_far
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.selection import where
from weft.ops.array.shape_ops import size
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, less, maximum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import div, div_no_nan
from weft.ops.math.elementwise import mul, squared_difference, sub
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import sqrt
from weft.ops.variables.assign import assign_add


def mean(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The (weighted) mean of all values so far.

    Args:
        values: `[...]`, of any shape.
        weights: a tensor that broadcasts to `values`; each value counts once when None.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.

    Returns:
        The mean, 0 before anything was taken in, and the operation that takes `values` in and gives the mean then.
    """
    with metric_scope(name, "mean", (values, weights)):
        values = as_float(convert_to_tensor(values))
        total, count = metric_variable([], dtypes.float32, "total"), metric_variable([], dtypes.float32, "count")
        if weights is None:
            number = as_float(size(values))
        else:
            weights = float_weights(weights, values)
            values, number = mul(values, weights), reduce_sum(weights)
        update_total = assign_add(total, reduce_sum(values))
        with get_default_graph().control_dependencies([values]):
            update_count = assign_add(count, number)
        value = div_no_nan(so_far(total), maximum(so_far(count), 0), name="value")
        update = div_no_nan(update_total, maximum(update_count, 0), name="update_op")
        return published(value, update, metrics_collections, updates_collections)


def mean_tensor(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Collections = None,
    updates_collections: Collections = None,
    name: str | None = None,
) -> Metric:
    """The (weighted) mean of each element over the batches so far; `values` keep their shape, which must be known.

    Args:
        values: a tensor of any shape that is known while building; taken as float32.
        weights: a tensor that broadcasts to `values`; each value counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The means, float32 in the shape of `values`, 0 where nothing was taken in, and a tensor that takes in a batch whenever
        it is run and gives the means after it.
    """
    with metric_scope(name, "mean", (values, weights)):
        values = as_float(convert_to_tensor(values))
        shape = values.get_shape().as_list()
        total = metric_variable(shape, dtypes.float32, "total_tensor")
        count = metric_variable(shape, dtypes.float32, "count_tensor")
        number = ones_like(values)
        if weights is not None:
            weights = float_weights(weights, values)
            values, number = mul(values, weights), mul(number, weights)
        update_total = assign_add(total, values)
        with get_default_graph().control_dependencies([values]):
            update_count = assign_add(count, number)
        value = div_no_nan(so_far(total), maximum(so_far(count), 0), name="value")
        update = div_no_nan(update_total, maximum(update_count, 0), name="update_op")
        return published(value, update, metrics_collections, updates_collections)


def accuracy(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share of predictions that match their labels.

    Args:
        labels, predictions: `[...]`, of one shape.
        weights: a tensor that broadcasts to `labels`; each prediction counts once when None.
        metrics_collections, updates_collections: where to add the value and the update operation.
        name: the variable scope.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run.

    Raises:
        ValueError: the shapes are known not to fit.

    >>> value, update = tf.metrics.accuracy(labels=[1, 2, 3], predictions=[1, 2, 0])
    >>> sess.run(tf.local_variables_initializer())
    >>> sess.run(update)
    np.float32(0.6666667)
    >>> print(round(float(sess.run(value)), 3))
    0.667
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    if labels.dtype.base_dtype is not predictions.dtype.base_dtype:
        predictions = cast(predictions, labels.dtype.base_dtype)
    hits = as_float(equal(predictions, labels))
    return mean(hits, weights, metrics_collections, updates_collections, name or "accuracy")


def _mean_of(
    error: Callable[[Tensor, Tensor], Tensor], labels: TensorLike, predictions: TensorLike,
    weights: TensorLike | None, metrics_collections: Collections, updates_collections: Collections, name: str,
) -> Metric:  # fmt: skip
    predictions, labels, weights = aligned(predictions, labels, weights)
    return mean(error(predictions, labels), weights, metrics_collections, updates_collections, name)


def mean_absolute_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The mean absolute difference of predictions and labels so far.

    Args:
        labels, predictions: `[...]` floats of one shape.
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
    return _mean_of(
        lambda p, t: absolute(sub(p, t)), labels, predictions, weights, metrics_collections, updates_collections,
        name or "mean_absolute_error",
    )  # fmt: skip


def mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The mean squared difference of predictions and labels so far.

    Args:
        labels, predictions: `[...]` floats of one shape.
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
    return _mean_of(
        lambda p, t: squared_difference(t, p), labels, predictions, weights, metrics_collections, updates_collections,
        name or "mean_squared_error",
    )  # fmt: skip


def root_mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The root of the mean squared difference of predictions and labels so far.

    Args:
        labels, predictions: `[...]` floats of one shape.
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
    predictions, labels, weights = aligned(predictions, labels, weights)
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return published(sqrt(value), sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(
    labels: TensorLike, predictions: TensorLike, normalizer: TensorLike, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The mean of absolute differences divided by `normalizer`, 0 where that is 0.

    Args:
        labels, predictions: `[...]` floats of one shape.
        normalizer: a tensor of the labels' shape and type that each difference is divided by, often the labels.
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
    predictions, labels, weights = aligned(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    is_zero = equal(normalizer, 0.0)
    errors = where(is_zero, zeros_like(labels), div(absolute(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


def mean_cosine_distance(
    labels: TensorLike, predictions: TensorLike, dim: int, weights: TensorLike | None = None,
    metrics_collections: Collections = None, updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """One minus the mean inner product of labels and predictions.

    Args:
        labels, predictions: `[...]` floats of one shape, of length one along `dim`, which nothing checks.
        dim: the dimension along which the vectors lie, an int.
        weights: a tensor that broadcasts to `labels` with their dimension `dim` as 1; each vector counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.

    Raises:
        ValueError: the shapes are known not to fit.
    """
    predictions, labels, weights = aligned(predictions, labels, weights)
    products = reduce_sum(mul(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    return published(sub(1.0, value), sub(1.0, update), metrics_collections, updates_collections)


def percentage_below(
    values: TensorLike, threshold: float, weights: TensorLike | None = None, metrics_collections: Collections = None,
    updates_collections: Collections = None, name: str | None = None,
) -> Metric:  # fmt: skip
    """The share, from 0 to 1, of values that are less than a threshold.

    Args:
        values: `[...]` numbers.
        threshold: a number of the values' type.
        weights: a tensor that broadcasts to `values`; each value counts once when None.
        metrics_collections, updates_collections: collections, or lists of them, that the value and the update operation are
            added to; none when None.
        name: the variable scope of the metric's local variables.

    Returns:
        The value, a [] float32 tensor, and a tensor that takes in a batch whenever it is run and gives the value after it.
        Their variables are local ones: `tf.local_variables_initializer()` sets them to 0.
    """
    below = as_float(less(values, threshold))
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")

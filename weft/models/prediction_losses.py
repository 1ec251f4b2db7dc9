"""Losses of predictions: numbers or probabilities that are compared with labels of their shape."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.graphs.collections import GraphKeys
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.models.losses import (
    DEFAULT_REDUCTION,
    add_loss,
    both_as_floats,
    check_given,
    compute_weighted_loss,
    num_present,
)
from weft.models.weights_broadcast import assert_broadcastable
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import select_node
from weft.ops.array.shape_ops import rank
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater, maximum, minimum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import add, mul, neg, square, squared_difference, sub
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.math.unary import log
from weft.ops.nn.activation import relu
from weft.platform.logs.deprecation import deprecated_argument_lookup


def absolute_difference(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The absolute differences, weighted and reduced.

    Args:
        labels, predictions: `[batch, ...]` of one shape, any number type; both are computed with as float32.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] float32, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or predictions are None or of different shapes, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        predictions, labels = both_as_floats(predictions, labels)
        losses = absolute(sub(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(
    labels: TensorLike, predictions: TensorLike, axis: int | None = None, weights: TensorLike = 1.0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
    dim: int | None = None,
) -> Tensor:  # fmt: skip
    """One less the inner product along `axis` of vectors of length one, weighted and reduced.

    Args:
        labels, predictions: `[batch, ...]` of one shape, any number type, of length one along `axis`, which nothing checks;
            both are computed with as float32.
        axis: the dimension along which the vectors lie, an int.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.
        dim: the former name of `axis`.

    Returns:
        A [] float32, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or predictions are None or of different shapes, there is no axis, the weights don't broadcast to
            the losses (whose dimension `axis` is 1), or the reduction is unknown.
    """
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        predictions, labels = both_as_floats(predictions, labels)
        losses = 1 - reduce_sum(mul(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """`max(0, 1 - sign * logit)` for labels 0 and 1, weighted and reduced.

    Args:
        labels: `[batch, ...]` of 0 and 1, any number type.
        logits: floats of the labels' shape; positive ones stand for the label 1.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] float32, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or logits are None or of different shapes, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(labels=labels, logits=logits)
    with input_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        logits, labels = both_as_floats(logits, labels)
        ones = ones_like(labels)
        signs = sub(2 * labels, ones)
        losses = relu(sub(ones, mul(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, delta: float = 1.0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """Half the square of the difference up to `delta`, linear beyond, weighted and reduced.

    Args:
        labels, predictions: `[batch, ...]` of one shape, any number type; both are computed with as float32.
        delta: the difference, a float, from which on the loss is linear.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] float32, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or predictions are None or of different shapes, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        predictions, labels = both_as_floats(predictions, labels)
        distance = absolute(sub(predictions, labels))
        near = minimum(distance, delta)
        far = sub(distance, near)
        losses = add(mul(0.5, mul(near, near)), mul(delta, far))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, epsilon: float = 1e-7,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The cross-entropy of predicted probabilities, weighted and reduced; `epsilon` keeps logarithms finite.

    Args:
        labels: `[batch, ...]` of 0 and 1, or probabilities.
        predictions: probabilities of the labels' shape, from 0 to 1; both are computed with as float32.
        epsilon: a small float that is added inside of the logarithms.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] float32, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or predictions are None or of different shapes, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        predictions, labels = both_as_floats(predictions, labels)
        losses = neg(mul(labels, log(predictions + epsilon))) - mul(1 - labels, log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = DEFAULT_REDUCTION,
) -> Tensor:  # fmt: skip
    """The squares of the differences, weighted and reduced.

    Args:
        labels, predictions: `[batch, ...]` of one shape, any number type; both are computed with as float32.
        weights: [] or of the losses' rank with each dimension 1 or that of the losses: what each loss is multiplied by; 0
            leaves it out.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.
        reduction: one of tf.losses.Reduction; the default divides the weighted sum by the number of weights that are not
            zero.

    Returns:
        A [] float32, or the weighted losses in their shape with `Reduction.NONE`.

    Raises:
        ValueError: labels or predictions are None or of different shapes, the weights don't broadcast to the losses, or the
            reduction is unknown.
    """
    check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        predictions, labels = both_as_floats(predictions, labels)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The squares by which differences between two elements of an example differ, averaged over pairs and weighted.

    Args:
        labels, predictions: `[batch, ...]` of one shape, any number type; both are computed with as float32.
        weights: [] or `[batch]` with dimensions of 1 up to the labels' rank: what each example's loss is multiplied by.
        scope: the name scope.
        loss_collection: the collection that the result is added to; None for none.

    Returns:
        A [] float32; 0 when all weights are.

    Raises:
        ValueError: labels or predictions are None or of different shapes, or the weights don't broadcast to them.
    """
    check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)):
        weights, labels = cast(weights, dtypes.float32), cast(labels, dtypes.float32)
        checked = assert_broadcastable(weights, labels)
        with get_default_graph().control_dependencies([checked]):
            predictions, labels = both_as_floats(predictions, labels)
            differences = sub(predictions, labels)
            axes = range_of(1, rank(differences))
            squares = reduce_sum(square(differences), axes, keepdims=True)
            present = num_present(differences, weights, per_batch=True)
            first = 2.0 * div_no_nan(squares, maximum(present - 1, 0), name="value")
            total = reduce_sum(differences, axes, keepdims=True)
            pairs = maximum(mul(present, present - 1), 0)
            second = 2.0 * div_no_nan(square(total), pairs, name="value")
            loss = reduce_sum(mul(first - second, weights))
            result = select_node(greater(reduce_sum(present), 0), loss, zeros_like(loss), name="value")
            add_loss(result, loss_collection)
            return result

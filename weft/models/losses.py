"""Losses of a batch: each is weighted, reduced to a scalar, and added to a collection that training sums up.

Labels and predictions (or logits) are of one shape, `[batch, ...]`, unless a loss says otherwise. Weights are a scalar, or of
the losses' rank with each dimension 1 or the losses' own. With `Reduction.NONE` the result has the losses' shape, else it is
a scalar.
"""

from __future__ import annotations

from typing import Final

from weft.framework import dtypes
from weft.framework.aliases import TensorLike
from weft.framework.collections import GraphKeys
from weft.framework.graph import get_default_graph
from weft.framework.node_errors import naming
from weft.framework.operation import Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.models.metrics.confusion_matrix import remove_squeezable_dimensions
from weft.models.weights_broadcast import assert_broadcastable, broadcast_weights
from weft.ops.array.constant import constant
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.identity import stop_gradient
from weft.ops.array.ranges import range_of
from weft.ops.array.selection import select_node
from weft.ops.array.shape_ops import rank, shape_internal, size_internal, squeeze
from weft.ops.array.slicing import slice_helper
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.comparison import equal, greater, maximum, minimum
from weft.ops.math.complex_numbers import absolute
from weft.ops.math.division import div_no_nan
from weft.ops.math.elementwise import add, add_n, mul, neg, square, squared_difference, sub
from weft.ops.math.reduce_functions import either, reduce_sum
from weft.ops.math.unary import log
from weft.ops.nn.activation import relu
from weft.ops.nn.loss import sigmoid_cross_entropy_with_logits
from weft.ops.nn.softmax import softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits


class Reduction:
    """The ways in which the losses of the elements become one number."""

    NONE: Final = "none"
    SUM: Final = "weighted_sum"
    SUM_OVER_BATCH_SIZE: Final = "weighted_sum_over_batch_size"
    MEAN: Final = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS: Final = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS: Final = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them; the last two are names of one."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS, cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key: str) -> None:
        """Raise ValueError unless `key` is one of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_DEFAULT: Final = Reduction.SUM_BY_NONZERO_WEIGHTS
# The key of a collection that is not exported: the reduction of the graph's last loss.
_LAST_REDUCTION: Final = ("weft last loss reduction",)


def last_reduction() -> str | None:
    """The reduction of the last loss that was made in the default graph; None before the first."""
    found = get_default_graph().get_collection(_LAST_REDUCTION)  # type: ignore[arg-type]
    return found[0] if found else None


# The collection.


def add_loss(loss: Tensor, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection, unless that is None."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses of the collection whose names begin with `scope`."""
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Tensor]:
    """The regularization losses whose names begin with `scope`."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the regularization losses, 0.0 when there are none."""
    found = get_regularization_losses(scope)
    return add_n(found, name=name) if found else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Tensor:
    """The sum of the losses in the collection and, if asked for, of the regularization losses."""
    found = get_losses(scope=scope)
    if add_regularization_losses:
        found += get_regularization_losses(scope=scope)
    return add_n(found, name=name)


# Weighting and reduction.


def _safe_mean(losses: Tensor, count: Tensor) -> Tensor:
    return div_no_nan(reduce_sum(losses), count, name="value")


def _num_elements(losses: Tensor) -> Tensor:
    with input_scope(None, "num_elements", (losses,)) as scope:
        return cast(size_internal(losses, name=scope), losses.dtype.base_dtype)


def _num_present(losses: Tensor, weights: TensorLike, per_batch: bool = False) -> Tensor:
    """The number of elements with a weight that is not zero, in all or per example."""
    with input_scope(None, "num_present", (losses, weights)) as scope:
        weights = cast(weights, dtypes.float32)
        present = select_node(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return reduce_sum(present, range_of(1, rank(present)), keepdims=True, name=scope)
        return reduce_sum(present, name=scope)


def compute_weighted_loss(
    losses: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """The weighted losses, reduced.

    Args:
        losses: `[batch, ...]`, one loss per element.
        weights: a scalar, or a tensor of the same rank with each dimension 1 or that of the losses.
        scope: the name scope.
        loss_collection: where the result is added; nowhere when None.
        reduction: one of Reduction.

    Raises:
        ValueError: the reduction is unknown, or the weights cannot be broadcast to the losses.
    """
    Reduction.validate(reduction)
    with input_scope(scope, "weighted_loss", (losses, weights)):
        checked = assert_broadcastable(weights, losses)
        with get_default_graph().control_dependencies([checked]):
            losses = convert_to_tensor(losses)
            kind = losses.dtype.base_dtype
            values, factors = cast(losses, dtypes.float32), cast(weights, dtypes.float32)
            loss = _reduced(mul(values, factors), values, factors, reduction)
            loss = cast(loss, kind)
            add_loss(loss, loss_collection)
            get_default_graph().get_collection_ref(_LAST_REDUCTION)[:] = [reduction]  # type: ignore[arg-type]
            return loss


def _reduced(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return _safe_mean(total, reduce_sum(ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _safe_mean(total, _num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _safe_mean(total, _num_elements(losses))
    return total


def _check_given(**values: object) -> None:
    for name, value in values.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


_ONE_SHAPE: Final = (
    "Both need one shape: a column [batch, 1] becomes a row by tf.squeeze(x, 1), and a row a column by tf.expand_dims(x, 1)."
)
_CLASS_NUMBERS: Final = (
    "Labels are one-hot, of the logits' shape: tf.one_hot(labels, classes), or tf.losses.sparse_softmax_cross_entropy for "
    "class numbers."
)


def _pair(predictions: TensorLike, labels: TensorLike) -> tuple[Tensor, Tensor]:
    """Both as float32, of compatible shapes."""
    first: Tensor = cast(predictions, dtypes.float32)
    second: Tensor = cast(labels, dtypes.float32)
    with naming(_ONE_SHAPE, labels=labels, predictions=predictions):
        first.shape.assert_is_compatible_with(second.shape)
    return first, second


# Of predictions.


def absolute_difference(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """The absolute differences, weighted and reduced."""
    _check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        predictions, labels = _pair(predictions, labels)
        losses = absolute(sub(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def cosine_distance(
    labels: TensorLike, predictions: TensorLike, axis: int | None = None, weights: TensorLike = 1.0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
    dim: int | None = None,
) -> Tensor:  # fmt: skip
    """One less the inner product along `axis` of vectors of length one, weighted and reduced."""
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _pair(predictions, labels)
        losses = 1 - reduce_sum(mul(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def hinge_loss(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """`max(0, 1 - sign * logit)` for labels 0 and 1, weighted and reduced."""
    _check_given(labels=labels, logits=logits)
    with input_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        logits, labels = _pair(logits, labels)
        ones = ones_like(labels)
        signs = sub(2 * labels, ones)
        losses = relu(sub(ones, mul(signs, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def huber_loss(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, delta: float = 1.0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """Half the square of the difference up to `delta`, linear beyond, weighted and reduced."""
    _check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _pair(predictions, labels)
        distance = absolute(sub(predictions, labels))
        near = minimum(distance, delta)
        far = sub(distance, near)
        losses = add(mul(0.5, mul(near, near)), mul(delta, far))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def log_loss(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, epsilon: float = 1e-7,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """The cross-entropy of predicted probabilities, weighted and reduced; `epsilon` keeps logarithms finite."""
    _check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        predictions, labels = _pair(predictions, labels)
        losses = neg(mul(labels, log(predictions + epsilon))) - mul(1 - labels, log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_squared_error(
    labels: TensorLike, predictions: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """The squares of the differences, weighted and reduced."""
    _check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        predictions, labels = _pair(predictions, labels)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The squares by which differences between two elements of an example differ, averaged over pairs and weighted."""
    _check_given(labels=labels, predictions=predictions)
    with input_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)):
        weights, labels = cast(weights, dtypes.float32), cast(labels, dtypes.float32)
        checked = assert_broadcastable(weights, labels)
        with get_default_graph().control_dependencies([checked]):
            predictions, labels = _pair(predictions, labels)
            differences = sub(predictions, labels)
            axes = range_of(1, rank(differences))
            squares = reduce_sum(square(differences), axes, keepdims=True)
            present = _num_present(differences, weights, per_batch=True)
            first = 2.0 * div_no_nan(squares, maximum(present - 1, 0), name="value")
            total = reduce_sum(differences, axes, keepdims=True)
            pairs = maximum(mul(present, present - 1), 0)
            second = 2.0 * div_no_nan(square(total), pairs, name="value")
            loss = reduce_sum(mul(first - second, weights))
            result = select_node(greater(reduce_sum(present), 0), loss, zeros_like(loss), name="value")
            add_loss(result, loss_collection)
            return result


# Of logits.


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """The cross-entropy of sigmoid, weighted and reduced; `label_smoothing` draws labels towards one half."""
    _check_given(multi_class_labels=multi_class_labels, logits=logits)
    with input_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(multi_class_labels, logits.dtype.base_dtype)
        with naming(_ONE_SHAPE, multi_class_labels=multi_class_labels, logits=logits):
            logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """The cross-entropy of softmax, weighted and reduced; `label_smoothing` draws labels towards equal shares.

    Labels and logits are `[batch, classes]`; the losses, and weights that are no scalar, `[batch]`.
    """
    _check_given(onehot_labels=onehot_labels, logits=logits)
    with input_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        logits = convert_to_tensor(logits)
        labels = cast(onehot_labels, logits.dtype.base_dtype)
        with naming(_CLASS_NUMBERS, onehot_labels=onehot_labels, logits=logits):
            logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = cast(slice_helper(shape_internal(labels), -1), logits.dtype.base_dtype)
            labels = labels * (1.0 - label_smoothing) + label_smoothing / classes
        labels = stop_gradient(labels)
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike, logits: TensorLike, weights: TensorLike = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Tensor:  # fmt: skip
    """The cross-entropy of softmax with labels that are class numbers, weighted and reduced.

    Labels are `[batch]` or `[batch, 1]`, logits `[batch, classes]`, weights a scalar, `[batch]` or `[batch, 1]`.

    >>> loss = tf.losses.sparse_softmax_cross_entropy(labels=[1], logits=[[0.0, 0.0]])
    >>> print(sess.run(loss))
    0.6931472
    """
    _check_given(labels=labels, logits=logits)
    with input_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
        weights = convert_to_tensor(weights)
        if weights.dims is not None and labels.dims is not None and len(weights.dims) - len(labels.dims) == 1:
            weights = squeeze(weights, [-1])
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
